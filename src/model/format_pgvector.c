/* format_pgvector.c - lines for PostgreSQL's COPY, with vectors as pgvector writes
 * them.
 *
 *     word TAB count TAB [0.1,-0.2,...]
 *
 *     CREATE TABLE words (word text PRIMARY KEY, count bigint, vector vector(100));
 *     \copy words FROM 'words.copy'
 *
 * A backslash begins an escape in such text, and so the bytes that mean something there
 * are written as \\, \t, \n and \r. Any word can be held.
 */
#include "model/format.h"

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

static int write_copy(tide_table *table, const char *path, tide_error *err)
{
    tide_output *out = tide_output_create(path, err);
    if (!out)
        return TIDE_ERROR_IO;
    for (uint32_t i = 0; i < table->count && !tide_output_failed(out); i++) {
        int status = tide_table_row(table, i, err);
        if (status) {
            tide_output_abandon(out);
            return status;
        }
        char *row = tide_output_room(out, tide_text_room(table));
        char *to = put_word(row, table->words[i].word);
        to += sprintf(to, "\t%" PRIu64 "\t", table->words[i].count);
        char *bracket = to;
        to = tide_put_numbers(to, table, ',');
        *bracket = '[';
        *to++ = ']';
        *to++ = '\n';
        tide_output_take(out, (size_t)(to - row));
    }
    return tide_output_commit(out, err);
}

const tide_format tide_format_pgvector = {
    .stream = true,
    .write = write_copy,
};
