/* section_fixture.h - reads sections of model files, and copies files with a section
 * changed. */
#ifndef TIDE_SECTION_FIXTURE_H
#define TIDE_SECTION_FIXTURE_H

#include "file/file.h"
#include "file/store_internal.h"

#include <fcntl.h>
#include <stdlib.h>

#include "folder_fixture.h"

/* With subwords, the word vectors and the rows of n-grams are in other sections. */
static inline const char *present_section(const tide_store *store, const char *name)
{
    if (!strcmp(name, "input") && tide_store_has(store, "composed"))
        return "composed";
    if (!strcmp(name, "subword") && tide_store_has(store, "subword.rows"))
        return "subword.rows";
    return name;
}

/* Reads a section and its size; the caller frees it. */
static inline unsigned char *read_section(const char *path, const char *name,
                                          size_t *size)
{
    tide_error err;
    tide_store *store = tide_store_open(path, &err);
    assert_non_null(store);
    name = present_section(store, name);
    *size = (size_t)tide_store_size(store, name, &err);
    unsigned char *bytes = malloc(*size + 64);
    assert_non_null(bytes);
    assert_int_equal(tide_store_read(store, name, bytes, *size, &err), TIDE_OK);
    tide_store_close(store);
    return bytes;
}

/* Copies a file with other bytes in one section, or without that section if they are
 * NULL. */
static inline void replace_section(const char *from, const char *to, const char *name,
                                   const void *bytes, size_t size)
{
    tide_section_table table;
    int file = open(from, O_RDONLY);
    assert_int_equal(tide_store_table(file, from, &table, NULL), TIDE_OK);
    close(file);
    tide_store *store = tide_store_open(from, NULL);
    assert_non_null(store);
    name = present_section(store, name);
    tide_store_close(store);
    tide_store_writer *writer = tide_store_create(to, NULL);
    assert_non_null(writer);
    for (uint32_t i = 0; i < table.count; i++) {
        const char *section = table.sections[i].name;
        size_t same;
        unsigned char *copy = read_section(from, section, &same);
        if (strcmp(section, name) != 0)
            tide_store_put(writer, section, copy, same);
        else if (bytes)
            tide_store_put(writer, section, bytes, size);
        free(copy);
    }
    assert_int_equal(tide_store_commit(writer, NULL), TIDE_OK);
}

/* Copies a file with one 64-bit number of a section replaced. */
static inline void replace_number(const char *from, const char *to, const char *name,
                                  size_t place, uint64_t number)
{
    size_t size;
    unsigned char *bytes = read_section(from, name, &size);
    assert_true(8 * place + 8 <= size);
    tide_put64(bytes + 8 * place, number);
    replace_section(from, to, name, bytes, size);
    free(bytes);
}

#endif
