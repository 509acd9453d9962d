/* fuzz_store.c - arbitrary bytes as a store file.
 *
 * Checksums would reject nearly every change, so with an odd first byte they are
 * corrected; then the checks of the structure have to catch the change. The rest of the
 * input is the file. A file that is accepted must be readable to its last byte and
 * satisfy doc/FORMAT.md.
 */
#include "file/file.h"
#include "file/store_internal.h"
#include "fuzz_fixture.h"

enum { SIZE_MAX_TRIED = 1 << 16 };

static void read_all(tide_store *store, const char *path, size_t size)
{
    static unsigned char bytes[SIZE_MAX_TRIED];
    tide_section_table table;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    must(file >= 0 && tide_store_table(file, path, &table, NULL) == TIDE_OK);
    close(file);
    uint64_t next = TIDE_STORE_HEADER;
    for (uint32_t i = 0; i < table.count; i++) {
        const tide_section *section = &table.sections[i];
        must(section->offset == next && section->size < size);
        next = tide_store_aligned(next + section->size);
        must(tide_store_has(store, section->name));
        must(tide_store_size(store, section->name, NULL) == (int64_t)section->size);
        size_t n = (size_t)section->size;
        must(tide_store_read(store, section->name, bytes, n, NULL) == TIDE_OK);
        must(tide_store_read(store, section->name, bytes, n + 1, NULL) < 0);
        must(tide_store_read_at(store, section->name, n, bytes, 1, NULL) < 0);
    }
    must(next + TIDE_STORE_END == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char bytes[SIZE_MAX_TRIED];
    if (size == 0 || size - 1 > sizeof bytes)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        tide_store_rechecksum(bytes, size - 1);
    const char *path = memory_file(bytes, size - 1);
    tide_error err = {.status = TIDE_OK};
    tide_store *store = tide_store_open(path, &err);
    if (store)
        read_all(store, path, size - 1);
    else
        must(err.status == TIDE_ERROR_FORMAT && err.text[0] != '\0');
    tide_store_close(store);
    return 0;
}
