/* tokenizer_fixture.h - shared by the tokenizer tests: feeding a text, saving
 * halfway. */
#ifndef TIDE_TOKENIZER_FIXTURE_H
#define TIDE_TOKENIZER_FIXTURE_H

#include "file/file.h"
#include "token/token.h"
#include "tokenizer_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

enum { BATCH = 64 };

static inline void feed_all(transcript *s, tide_tokenizer *t, const void *text,
                            size_t size, size_t batch)
{
    for (size_t done = 0; done < size;) {
        size_t taken = tide_tokenizer_feed(t, (const char *)text + done, size - done);
        assert_true(taken > 0);
        done += taken;
        transcript_take(s, t, batch);
    }
}

static inline const char *store_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/test_tokens.%ld", (long)getpid());
    return path;
}

static inline tide_tokenizer *save_and_load(tide_tokenizer *t,
                                            const tide_tokenizer_options *options)
{
    tide_error err = {0};
    tide_store_writer *writer = tide_store_create(store_path(), &err);
    assert_non_null(writer);
    tide_tokenizer_save(t, writer);
    assert_int_equal(tide_store_commit(writer, &err), TIDE_OK);
    tide_tokenizer_free(t);
    t = tide_tokenizer_new(options, NULL);
    tide_store *store = tide_store_open(store_path(), &err);
    assert_non_null(store);
    assert_int_equal(tide_tokenizer_load(t, store, &err), TIDE_OK);
    tide_store_close(store);
    unlink(store_path());
    return t;
}

/* A tokenizer that is saved after `stop` bytes and loaded continues with the same
 * result. */
static inline void check_stop(const tide_tokenizer_options *options,
                              const unsigned char *text, size_t size, size_t stop,
                              const transcript *expected)
{
    transcript s = {0};
    tide_tokenizer *t = tide_tokenizer_new(options, NULL);
    feed_all(&s, t, text, stop, BATCH);
    uint64_t pending = tide_tokenizer_pending(t);
    t = save_and_load(t, options);
    assert_int_equal(tide_tokenizer_pending(t), pending);
    assert_int_equal(tide_tokenizer_counted(t).bytes, stop);
    feed_all(&s, t, text + stop, size - stop, 3);
    tide_tokenizer_end(t);
    transcript_take(&s, t, BATCH);
    assert_true(transcript_equal(&s, expected));
    free(s.bytes);
    tide_tokenizer_free(t);
}

#endif
