/* format_sqlite.c - a SQLite file with one table:
 *
 *     CREATE TABLE words(word TEXT PRIMARY KEY, count INTEGER, vector BLOB)
 *
 * The blob holds dim little-endian floats. SQLite writes the temporary file itself, in
 * one transaction and without a journal, since the file is discarded if anything fails.
 */
#include "format/format.h"

#include <sqlite3.h>

static const char begin_sql[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE words(word TEXT PRIMARY KEY, count INTEGER, vector BLOB)";

static bool insert(sqlite3_stmt *statement, const tide_table *table, uint32_t i)
{
    const tide_entry *entry = &table->words[i];
    int bytes = (int)(table->dim * sizeof(float));
    return !sqlite3_bind_text(statement, 1, entry->word, -1, SQLITE_STATIC) &&
           !sqlite3_bind_int64(statement, 2, (sqlite3_int64)entry->count) &&
           !sqlite3_bind_blob(statement, 3, table->code, bytes, SQLITE_STATIC) &&
           sqlite3_step(statement) == SQLITE_DONE && !sqlite3_reset(statement);
}

static int sqlite_failed(sqlite3 *database, const char *path, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "cannot write %s: %s", path,
                     database ? sqlite3_errmsg(database) : "no memory");
}

static int insert_all(sqlite3 *database, tide_table *table, const char *path,
                      tide_error *err)
{
    sqlite3_stmt *statement = NULL;
    int status = TIDE_OK;
    if (sqlite3_exec(database, begin_sql, NULL, NULL, NULL) ||
        sqlite3_prepare_v2(database, "INSERT INTO words VALUES(?, ?, ?)", -1,
                           &statement, NULL))
        status = sqlite_failed(database, path, err);
    for (uint32_t i = 0; i < table->count && !status; i++) {
        status = tide_table_row(table, i, err);
        if (!status && !insert(statement, table, i))
            status = sqlite_failed(database, path, err);
    }
    sqlite3_finalize(statement);
    if (!status && sqlite3_exec(database, "COMMIT", NULL, NULL, NULL))
        status = sqlite_failed(database, path, err);
    return status;
}

static int write_database(tide_table *table, const char *path, tide_error *err)
{
    tide_output *out = tide_output_create(path, err);
    if (!out)
        return TIDE_ERROR_IO;
    sqlite3 *database = NULL;
    int status = TIDE_OK;
    if (sqlite3_open_v2(tide_output_temporary(out), &database, SQLITE_OPEN_READWRITE,
                        NULL))
        status = sqlite_failed(database, path, err);
    else
        status = insert_all(database, table, path, err);
    if (sqlite3_close(database) && !status)
        status = sqlite_failed(database, path, err);
    if (!status)
        return tide_output_commit(out, err);
    tide_output_discard(out);
    return status;
}

const tide_format tide_format_sqlite = {
    .write = write_database,
};
