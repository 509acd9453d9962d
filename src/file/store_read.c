/* store_read.c - the layout of a store, and its reader.
 *
 * A store is a file of named sections, each with a checksum; doc/FORMAT.md draws it:
 *
 *     header 2688 bytes: magic, version, length, table of sections, its own checksum
 *     sections, each padded with zeros to a multiple of 64 bytes
 *     end record 24 bytes: mark, length, the header's checksum
 *
 * Every byte of the file is implied by the header, covered by a checksum, or zero, and
 * the reader verifies all of them before it returns the first: a file with one flipped
 * bit, a missing tail or trailing bytes is refused. Sizes found in the file are
 * compared with the size of the file and never determine an allocation.
 */
#include "file/file.h"
#include "file/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum {
    AT_MAJOR = 8,
    AT_MINOR = 10,
    AT_COUNT = 12,
    AT_LENGTH = 16,
    AT_ZEROS = 24, /* reserved, up to the table */
    IN_ENTRY_OFFSET = 16,
    IN_ENTRY_SIZE = 24,
    IN_ENTRY_CHECKSUM = 32,
    BUFFER = TIDE_SIZE(1 << 16, 1024),
};

_Static_assert(TIDE_STORE_TABLE + TIDE_SECTIONS_MAX * TIDE_STORE_ENTRY <=
                   TIDE_STORE_CHECKSUM,
               "the table fits the header");
_Static_assert(TIDE_STORE_HEADER % TIDE_STORE_ALIGN == 0, "sections begin aligned");

/* A byte above 127, both kinds of line ends and the end-of-file mark of DOS: a transfer
 * in text mode changes at least one of them. */
static const unsigned char magic[8] = {0x89, 'T', 'I', 'D', '\r', '\n', 0x1a, '\n'};
static const unsigned char end_mark[8] = {'T', 'I', 'D', 'E', ' ', 'E', 'N', 'D'};

struct tide_store {
    int file;
    tide_section_table table;
    unsigned char buffer[BUFFER];
    char path[];
};

/* -- layout ------------------------------------------------------------------------ */

static void put_number(unsigned char *bytes, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get_number(const unsigned char *bytes, size_t width)
{
    uint32_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

static bool all_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

bool tide_section_name_valid(const char name[TIDE_SECTION_NAME_MAX + 1])
{
    size_t length = 0;
    while (length < TIDE_SECTION_NAME_MAX && name[length] != '\0') {
        char c = name[length++];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '.' && c != '-')
            return false;
    }
    const unsigned char *rest = (const unsigned char *)name + length;
    return length > 0 && all_zero(rest, TIDE_SECTION_NAME_MAX + 1 - length);
}

void tide_store_header(tide_section_table *table,
                       unsigned char header[TIDE_STORE_HEADER])
{
    memset(header, 0, TIDE_STORE_HEADER);
    memcpy(header, magic, sizeof magic);
    put_number(header + AT_MAJOR, 2, TIDE_STORE_MAJOR);
    put_number(header + AT_MINOR, 2, TIDE_STORE_MINOR);
    put_number(header + AT_COUNT, 4, table->count);
    put_number(header + AT_LENGTH, 8, table->length);
    for (uint32_t i = 0; i < table->count; i++) {
        const tide_section *section = &table->sections[i];
        unsigned char *entry = header + TIDE_STORE_TABLE + i * TIDE_STORE_ENTRY;
        memcpy(entry, section->name, sizeof section->name);
        put_number(entry + IN_ENTRY_OFFSET, 8, section->offset);
        put_number(entry + IN_ENTRY_SIZE, 8, section->size);
        put_number(entry + IN_ENTRY_CHECKSUM, 8, section->checksum);
    }
    table->checksum = tide_hash(header, TIDE_STORE_CHECKSUM, 0);
    put_number(header + TIDE_STORE_CHECKSUM, 8, table->checksum);
}

void tide_store_end(const tide_section_table *table, unsigned char end[TIDE_STORE_END])
{
    memcpy(end, end_mark, sizeof end_mark);
    put_number(end + 8, 8, table->length);
    put_number(end + 16, 8, table->checksum);
}

void tide_store_rechecksum(unsigned char *bytes, size_t size)
{
    if (size < TIDE_STORE_HEADER + TIDE_STORE_END)
        return;
    memcpy(bytes, magic, sizeof magic);
    put_number(bytes + AT_MAJOR, 2, TIDE_STORE_MAJOR);
    put_number(bytes + AT_LENGTH, 8, size);
    uint32_t count = get_number(bytes + AT_COUNT, 4);
    for (uint32_t i = 0; i < count && i < TIDE_SECTIONS_MAX; i++) {
        unsigned char *entry = bytes + TIDE_STORE_TABLE + i * TIDE_STORE_ENTRY;
        uint64_t offset = tide_get64(entry + IN_ENTRY_OFFSET);
        uint64_t length = tide_get64(entry + IN_ENTRY_SIZE);
        if (offset <= size && length <= size - offset)
            put_number(entry + IN_ENTRY_CHECKSUM, 8,
                       tide_hash(bytes + offset, length, 0));
    }
    tide_section_table table = {.length = size};
    table.checksum = tide_hash(bytes, TIDE_STORE_CHECKSUM, 0);
    put_number(bytes + TIDE_STORE_CHECKSUM, 8, table.checksum);
    tide_store_end(&table, bytes + size - TIDE_STORE_END);
}

bool tide_store_recognize(int file)
{
    /* The line ends of the magic number may have been changed by a transfer. */
    enum { CERTAIN = 4 };
    unsigned char start[CERTAIN], end[sizeof end_mark];
    struct stat status;
    if (tide_file_read(file, start, sizeof start, 0) == sizeof start &&
        memcmp(start, magic, sizeof start) == 0)
        return true;
    return fstat(file, &status) == 0 && status.st_size >= TIDE_STORE_END &&
           tide_file_read(file, end, sizeof end,
                          (uint64_t)status.st_size - TIDE_STORE_END) == sizeof end &&
           memcmp(end, end_mark, sizeof end) == 0;
}

/* -- checking ---------------------------------------------------------------------- */

#define CORRUPT(...) tide_fail(err, TIDE_ERROR_FORMAT, __VA_ARGS__)

static int read_fully(int file, const char *path, void *bytes, size_t size,
                      uint64_t offset, tide_error *err)
{
    ptrdiff_t n = tide_file_read(file, bytes, size, offset);
    if (n < 0)
        return tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path,
                         strerror(errno));
    if ((size_t)n < size)
        return CORRUPT("%s: truncated while it was being read", path);
    return TIDE_OK;
}

/* Checks the magic number and that a file of this size has a complete header. */
static int check_start(const unsigned char *header, uint64_t size, const char *path,
                       tide_error *err)
{
    size_t present = size < sizeof magic ? (size_t)size : sizeof magic;
    if (size == 0)
        return CORRUPT("%s: truncated: the file is empty", path);
    if (memcmp(header, magic, present) != 0) {
        /* The start of the magic number is right and its line ends are not: a typical
         * accident with old transfer programs. */
        if (size >= sizeof magic && memcmp(header, magic, 4) == 0)
            return CORRUPT("%s: corrupt: it was transferred in text mode", path);
        return CORRUPT("%s: not a wordtide model", path);
    }
    if (size < TIDE_STORE_HEADER)
        return CORRUPT("%s: truncated: %ju bytes are less than the header", path,
                       (uintmax_t)size);
    return TIDE_OK;
}

/* Checks version, checksum and length of the header, and that its reserved bytes are
 * zero. */
static int check_header(const unsigned char *header, uint64_t size, const char *path,
                        tide_error *err)
{
    uint32_t major = get_number(header + AT_MAJOR, 2);
    /* Before the checksum: a later version may compute it differently. */
    if (major > TIDE_STORE_MAJOR)
        return CORRUPT("%s: format version %u is newer than this program, which reads "
                       "version %d",
                       path, major, TIDE_STORE_MAJOR);
    if (tide_get64(header + TIDE_STORE_CHECKSUM) !=
        tide_hash(header, TIDE_STORE_CHECKSUM, 0))
        return CORRUPT("%s: the header is corrupt (checksum mismatch)", path);
    uint64_t length = tide_get64(header + AT_LENGTH);
    if (length > size)
        return CORRUPT("%s: truncated: it has %ju of %ju bytes", path, (uintmax_t)size,
                       (uintmax_t)length);
    if (length < size)
        return CORRUPT("%s: corrupt: %ju bytes follow the end record", path,
                       (uintmax_t)(size - length));
    uint32_t count = get_number(header + AT_COUNT, 4);
    if (major < TIDE_STORE_MAJOR || count > TIDE_SECTIONS_MAX ||
        length < TIDE_STORE_HEADER + TIDE_STORE_END ||
        !all_zero(header + AT_ZEROS, TIDE_STORE_TABLE - AT_ZEROS))
        return CORRUPT("%s: the header is corrupt", path);
    size_t table_end = TIDE_STORE_TABLE + count * TIDE_STORE_ENTRY;
    if (!all_zero(header + table_end, TIDE_STORE_CHECKSUM - table_end))
        return CORRUPT("%s: the header is corrupt: the bytes after the table are not "
                       "zero",
                       path);
    return TIDE_OK;
}

/* Decodes a header that check_header has accepted. The sections must be contiguous and
 * fill the file. */
static int decode_table(const unsigned char *header, const char *path,
                        tide_section_table *table, tide_error *err)
{
    table->count = get_number(header + AT_COUNT, 4);
    table->length = tide_get64(header + AT_LENGTH);
    table->checksum = tide_get64(header + TIDE_STORE_CHECKSUM);
    uint64_t next = TIDE_STORE_HEADER, end = table->length - TIDE_STORE_END;
    for (uint32_t i = 0; i < table->count; i++) {
        tide_section *section = &table->sections[i];
        const unsigned char *entry = header + TIDE_STORE_TABLE + i * TIDE_STORE_ENTRY;
        memcpy(section->name, entry, sizeof section->name);
        section->offset = tide_get64(entry + IN_ENTRY_OFFSET);
        section->size = tide_get64(entry + IN_ENTRY_SIZE);
        section->checksum = tide_get64(entry + IN_ENTRY_CHECKSUM);
        if (!tide_section_name_valid(section->name))
            return CORRUPT("%s: the name of section %u is corrupt", path, i + 1);
        for (uint32_t other = 0; other < i; other++)
            if (strcmp(table->sections[other].name, section->name) == 0)
                return CORRUPT("%s: duplicate section \"%s\"", path, section->name);
        /* Each section must begin where the previous one ended, padded. So none can
         * overlap, and no byte of the file is left unchecked. The comparisons are
         * ordered so that nothing can overflow. */
        if (section->offset != next || next > end || section->size > end - next)
            return CORRUPT("%s: section \"%s\" has a wrong offset or size", path,
                           section->name);
        next = tide_store_aligned(next + section->size);
    }
    if (next != end)
        return CORRUPT("%s: the sections do not fill the file", path);
    return TIDE_OK;
}

int tide_store_table(int file, const char *path, tide_section_table *table,
                     tide_error *err)
{
    struct stat found;
    if (fstat(file, &found) != 0)
        return tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path,
                         strerror(errno));
    if (!S_ISREG(found.st_mode))
        return CORRUPT("%s: not a regular file", path);
    uint64_t size = (uint64_t)found.st_size;
    unsigned char header[TIDE_STORE_HEADER];
    unsigned char end[TIDE_STORE_END], expected_end[TIDE_STORE_END];
    size_t present = size < sizeof header ? (size_t)size : sizeof header;
    /* A file that is shorter than a header is examined all the same, to say whether it
     * is a truncated model or something else. */
    int status = read_fully(file, path, header, present, 0, err);
    if (status == TIDE_OK)
        status = check_start(header, size, path, err);
    if (status == TIDE_OK)
        status = check_header(header, size, path, err);
    if (status == TIDE_OK)
        status = decode_table(header, path, table, err);
    if (status == TIDE_OK)
        status = read_fully(file, path, end, sizeof end, size - sizeof end, err);
    if (status != TIDE_OK)
        return status;
    tide_store_end(table, expected_end);
    if (memcmp(end, expected_end, sizeof end) != 0)
        return CORRUPT("%s: the end record is corrupt", path);
    return TIDE_OK;
}

/* -- reading ----------------------------------------------------------------------- */

int tide_store_check(int file, const char *path, const tide_section *section,
                     unsigned char *buffer, size_t capacity, tide_error *err)
{
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    uint64_t at = section->offset, end = at + section->size;
    while (at < end) {
        size_t n = end - at < capacity ? (size_t)(end - at) : capacity;
        int status = read_fully(file, path, buffer, n, at, err);
        if (status != TIDE_OK)
            return status;
        XXH3_64bits_update(&hash, buffer, n);
        at += n;
    }
    if (XXH3_64bits_digest(&hash) != section->checksum)
        return CORRUPT("%s: section \"%s\" is corrupt (checksum mismatch)", path,
                       section->name);
    /* Not covered by the section's checksum, so it must be what the writer always
     * writes. */
    size_t padding = (size_t)(tide_store_aligned(end) - end);
    int status = read_fully(file, path, buffer, padding, end, err);
    if (status == TIDE_OK && !all_zero(buffer, padding))
        return CORRUPT("%s: the padding after section \"%s\" is not zero", path,
                       section->name);
    return status;
}

tide_store *tide_store_open(const char *path, tide_error *err)
{
    size_t length = strlen(path);
    tide_store *store = tide_alloc(1, sizeof *store + length + 1);
    if (!store) {
        tide_fail(err, TIDE_ERROR_MEMORY, "cannot read %s: no memory", path);
        return NULL;
    }
    memcpy(store->path, path, length + 1);
    /* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
    store->file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (store->file < 0) {
        tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
        free(store);
        return NULL;
    }
    int status = tide_store_table(store->file, path, &store->table, err);
    /* All sections are verified before any is used: a model is loaded completely or not
     * at all. */
    for (uint32_t i = 0; status == TIDE_OK && i < store->table.count; i++)
        status = tide_store_check(store->file, path, &store->table.sections[i],
                                  store->buffer, BUFFER, err);
    if (status != TIDE_OK) {
        tide_store_close(store);
        return NULL;
    }
    return store;
}

void tide_store_close(tide_store *store)
{
    if (!store)
        return;
    close(store->file);
    free(store);
}

const char *tide_store_path(const tide_store *store)
{
    return store->path;
}

uint64_t tide_store_length(const tide_store *store)
{
    return store->table.length;
}

static const tide_section *find_section(const tide_store *store, const char *name)
{
    for (uint32_t i = 0; i < store->table.count; i++)
        if (strcmp(store->table.sections[i].name, name) == 0)
            return &store->table.sections[i];
    return NULL;
}

bool tide_store_has(const tide_store *store, const char *name)
{
    return find_section(store, name) != NULL;
}

int64_t tide_store_size(const tide_store *store, const char *name, tide_error *err)
{
    const tide_section *section = find_section(store, name);
    if (!section)
        return CORRUPT("%s: section \"%s\" is missing", store->path, name);
    return (int64_t)section->size; /* fits: it is less than the size of the file */
}

int tide_store_read(tide_store *store, const char *name, void *bytes, size_t size,
                    tide_error *err)
{
    const tide_section *section = find_section(store, name);
    if (!section)
        return CORRUPT("%s: section \"%s\" is missing", store->path, name);
    if (section->size != size)
        return CORRUPT("%s: section \"%s\" has %ju bytes instead of %zu", store->path,
                       name, (uintmax_t)section->size, size);
    int status =
        read_fully(store->file, store->path, bytes, size, section->offset, err);
    if (status == TIDE_OK && tide_hash(bytes, size, 0) != section->checksum)
        return CORRUPT("%s: section \"%s\" is corrupt (checksum mismatch)", store->path,
                       name);
    return status;
}

int tide_store_read_at(tide_store *store, const char *name, uint64_t offset,
                       void *bytes, size_t size, tide_error *err)
{
    const tide_section *section = find_section(store, name);
    if (!section)
        return CORRUPT("%s: section \"%s\" is missing", store->path, name);
    if (offset > section->size || size > section->size - offset)
        return CORRUPT("%s: section \"%s\" ends before byte %ju", store->path, name,
                       (uintmax_t)offset + size);
    return read_fully(store->file, store->path, bytes, size, section->offset + offset,
                      err);
}
