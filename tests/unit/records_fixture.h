/* records_fixture.h - shared by the record tests: feeding in pieces, saving and
 * loading. */
#ifndef TIDE_RECORDS_FIXTURE_H
#define TIDE_RECORDS_FIXTURE_H

#include "file/file.h"
#include "record/record.h"
#include "records_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

static tide_records *records_with(const tide_record_options *options)
{
    tide_error err = {0};
    tide_records *r = tide_records_new(options, &err);
    if (!r)
        fail_msg("%s", err.text);
    return r;
}

static tide_records *records(tide_record_kind kind, const char *text, const char *time,
                             const char *label)
{
    return records_with(&(tide_record_options){kind, text, time, label, false, 0});
}

/* Feeds in pieces of this size and takes all available texts after each. */
static inline void feed(transcript *t, tide_records *r, const void *bytes, size_t size,
                        size_t piece)
{
    for (size_t done = 0; done < size;) {
        size_t next = piece < size - done ? piece : size - done;
        size_t fed = tide_records_feed(r, (const char *)bytes + done, next);
        assert_in_range(fed, 1, next);
        done += fed;
        transcript_take(t, r);
    }
}

static inline void end(transcript *t, tide_records *r)
{
    tide_records_end(r);
    transcript_take(t, r);
    assert_true(tide_records_at_boundary(r));
}

static inline void free_both(transcript *a, transcript *b)
{
    free(a->texts.bytes);
    free(b->texts.bytes);
    a->texts = b->texts = (pile){0};
}

/* A new reader must produce these texts from the input, each prefixed by its length. */
static inline void expect(tide_record_kind kind, const char *fields, const char *input,
                          const char *texts)
{
    transcript t = {0};
    tide_records *r = records(kind, fields, "", "");
    feed(&t, r, input, strlen(input), SIZE_MAX);
    end(&t, r);
    assert_string_equal(t.texts.bytes ? (char *)t.texts.bytes : "", texts);
    free(t.texts.bytes);
    tide_records_free(r);
}

static const char *store_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/tide-records-%d", P_tmpdir, (int)getpid());
    return path;
}

static inline void save(const tide_records *r)
{
    tide_error err = {0};
    tide_store_writer *writer = tide_store_create(store_path(), &err);
    assert_non_null(writer);
    tide_records_save(r, writer);
    assert_int_equal(tide_store_commit(writer, &err), TIDE_OK);
}

static inline int load(tide_records *r, tide_error *err)
{
    tide_store *store = tide_store_open(store_path(), err);
    assert_non_null(store);
    int status = tide_records_load(r, store, err);
    tide_store_close(store);
    unlink(store_path());
    return status;
}

#endif
