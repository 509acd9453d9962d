/* fuzz_records.c - any input in any division into feeds yields what the oracle reads in
 * the whole input; any saved state is either rejected or usable.
 *
 * First byte: bits 0-1 the format, bits 2-3 the fields, bit 4 the rest is a section to
 * load, bits 5-7 the number of following bytes that are feed sizes, used in turn. The
 * remaining bytes are the input.
 */
#include "file/file.h"
#include "record/record.h"
#include "fuzz_fixture.h"
#include "../unit/records_oracle.h"

static const tide_record_options choices[3][4] = {
    {{TIDE_RECORDS_JSON, "text", "", "", false, 0},
     {TIDE_RECORDS_JSON, "a,a.b", "t", "b", false, 0},
     {TIDE_RECORDS_JSON, "a.b.c,a,c", "a", "a", true, 0},
     {TIDE_RECORDS_JSON, ".,a..b", "", ".", false, 0}},
    {{TIDE_RECORDS_CSV, "2", "", "", false, ','},
     {TIDE_RECORDS_CSV, "a", "t", "b", false, ','},
     {TIDE_RECORDS_CSV, "a,2,b", "a", "", true, ','},
     {TIDE_RECORDS_CSV, "1,3", "2", "2", false, ','}},
    {{TIDE_RECORDS_TSV, "2", "", "", false, 0},
     {TIDE_RECORDS_TSV, "a", "t", "b", false, 0},
     {TIDE_RECORDS_TSV, "a,2,b", "a", "", true, 0},
     {TIDE_RECORDS_TSV, "1,3", "2", "2", false, 0}},
};

static tide_records *records[3][4];

/* One reader is reused for all inputs, because no input may affect the next. */
static tide_records *shared_records(unsigned kind, unsigned fields)
{
    tide_records **r = &records[kind][fields];
    if (!*r)
        *r = tide_records_new(&choices[kind][fields], NULL);
    must(*r != NULL);
    return *r;
}

static void feed(transcript *t, tide_records *r, const uint8_t *bytes, size_t size,
                 const uint8_t *pieces, size_t piece_count)
{
    for (size_t done = 0, turn = 0; done < size; turn++) {
        size_t piece = piece_count ? pieces[turn % piece_count] + 1u : size;
        piece = piece < size - done ? piece : size - done;
        size_t taken = tide_records_feed(r, bytes + done, piece);
        must(taken > 0);
        done += taken;
        transcript_take(t, r);
    }
    tide_records_end(r);
    transcript_take(t, r);
    must(tide_records_at_boundary(r));
}

static void compare(const tide_record_options *options, tide_records *r,
                    const uint8_t *bytes, size_t size, const uint8_t *pieces,
                    size_t piece_count)
{
    tide_record_counts before = tide_records_counted(r);
    transcript found = {0}, expected = {.counts = before};
    feed(&found, r, bytes, size, pieces, piece_count);
    if (size == 0)
        found.counts = before;
    oracle_read(&expected, options, bytes, size);
    must(transcript_equal(&found, &expected));
    free(found.texts.bytes);
    free(expected.texts.bytes);
}

/* -- saved states ------------------------------------------------------------------ */

static char folder[FOLDER_MAX], path[IN_FOLDER_MAX];

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static tide_store_writer *create(void)
{
    if (!folder[0]) {
        make_folder(folder);
        snprintf(path, sizeof path, "%s/r", folder);
        must(atexit(remove_folder) == 0);
    }
    tide_store_writer *writer = tide_store_create(path, NULL);
    must(writer != NULL);
    return writer;
}

static tide_store *reopen(tide_store_writer *writer)
{
    must(tide_store_commit(writer, NULL) == TIDE_OK);
    tide_store *store = tide_store_open(path, NULL);
    must(store != NULL);
    return store;
}

/* Loads bytes as the section, with a valid fingerprint, and continues from there. */
static void load(tide_records *r, uint64_t fingerprint, const uint8_t *bytes,
                 size_t size)
{
    static unsigned char section[4096];
    if (size > sizeof section || size < 8)
        return;
    memcpy(section, bytes, size);
    tide_put64(section, fingerprint);
    tide_store_writer *writer = create();
    tide_store_put(writer, "records", section, size);
    tide_store *store = reopen(writer);
    tide_error err = {0};
    transcript t = {0};
    if (tide_records_load(r, store, &err) == TIDE_OK) {
        transcript_take(&t, r);
        feed(&t, r, bytes, size, NULL, 0);
    } else {
        must(err.status == TIDE_ERROR_FORMAT && err.text[0]);
    }
    free(t.texts.bytes);
    tide_store_close(store);
}

/* The first number of the section that `r` saves. */
static uint64_t fingerprint_of(tide_records *r)
{
    unsigned char number[8];
    tide_store_writer *writer = create();
    tide_records_save(r, writer);
    tide_store *store = reopen(writer);
    must(!tide_store_read_at(store, "records", 0, number, 8, NULL));
    tide_store_close(store);
    return tide_get64(number);
}

/* The oracle is limited to this many members, elements and columns. */
static bool small_enough(const uint8_t *bytes, size_t size, bool json)
{
    size_t separators = 0;
    for (size_t i = 0; i < size; i++) {
        separators += bytes[i] == ',' || bytes[i] == '\t';
        if (bytes[i] == '\n' && !json)
            separators = 0;
        if (separators > (json ? 250 : 60))
            return false;
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] % 4 == 3)
        return 0;
    unsigned kind = data[0] % 4, fields = data[0] / 4 % 4;
    size_t piece_count = data[0] / 32;
    const tide_record_options *options = &choices[kind][fields];
    tide_records *r = shared_records(kind, fields);
    if (data[0] & 16) {
        static uint64_t fingerprints[3][4];
        uint64_t *fingerprint = &fingerprints[kind][fields];
        if (!*fingerprint)
            *fingerprint = fingerprint_of(r);
        load(r, *fingerprint, data + 1, size - 1);
        return 0;
    }
    if (size < 1 + piece_count || !small_enough(data, size, kind == 0))
        return 0;
    const uint8_t *pieces = data + 1, *bytes = pieces + piece_count;
    compare(options, r, bytes, size - 1 - piece_count, pieces, piece_count);
    return 0;
}
