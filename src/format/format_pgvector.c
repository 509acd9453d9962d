/* format_pgvector.c - input for PostgreSQL's COPY, with vectors in pgvector syntax.
 *
 *     word TAB count TAB [0.1,-0.2,...]
 *
 *     CREATE TABLE words (word text PRIMARY KEY, count bigint, vector vector(100));
 *     \copy words FROM 'words.copy'
 *
 * Backslashes, tabs, newlines and carriage returns are escaped as \\, \t, \n and \r, so
 * any word can be represented.
 */
#include "format/format.h"

#include <inttypes.h>

static char *put_word(char *to, const char *word)
{
    static const char special[] = "\\\t\n\r", letters[] = "\\tnr";
    for (; *word; word++) {
        const char *found = strchr(special, *word);
        if (found) {
            *to++ = '\\';
            *to++ = letters[found - special];
        } else {
            *to++ = *word;
        }
    }
    return to;
}

static char *put_row(char *to, const tide_table *table, uint32_t i)
{
    to = put_word(to, table->words[i].word);
    to += sprintf(to, "\t%" PRIu64 "\t", table->words[i].count);
    char *bracket = to;
    to = tide_put_numbers(to, table, ',');
    *bracket = '[';
    *to++ = ']';
    *to++ = '\n';
    return to;
}

static int write_copy(tide_table *table, const char *path, tide_error *err)
{
    return tide_write_rows(table, path, "", put_row, err);
}

const tide_format tide_format_pgvector = {
    .write = write_copy,
};
