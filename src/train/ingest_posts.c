/* ingest_posts.c - posts with labels, which are predicted before anything of them is
 * counted.
 *
 * Words of plain text are counted as they are read, before the end of their line is
 * known. The words of a post with labels must not be: its prediction may depend only on
 * the posts before it. So they are held until the post is complete, and are then
 * counted at once. If a line is longer than a sentence may be, its first sentence is
 * the post; the others are trained but belong to no post.
 *
 * Between the prediction and the counting the classifier may be refitted, which can
 * take long, and the run may be asked to stop meanwhile. For a resumed run to give the
 * same result, the refit must then start from the same state: so the post is deferred,
 * with the text that was already read after it. Both are part of the model file, and
 * are processed before more text is read. For this, text is fed line by line. Where a
 * refit cannot be interrupted, in the middle of a line or with too much text after it,
 * it runs to its end in spite of the stop.
 *
 *     feed > resume > feed_lines > read_posts > finish_post > refit
 */
#include "file/file.h"
#include "label/label.h"
#include "params/params.h"
#include "reader/reader.h"
#include "train/ingest_internal.h"
#include "train/train.h"

/* -- one post ---------------------------------------------------------------------- */

static void hold_words(tide_pending_post *post, const tide_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        held_word *word = &post->words[post->count++];
        memcpy(word->bytes, words[i].bytes, words[i].length);
        word->length = words[i].length;
    }
}

static void set_views(tide_pending_post *post)
{
    for (uint32_t i = 0; i < post->count; i++)
        post->views[i] = (tide_word){post->words[i].bytes, post->words[i].length};
}

/* Predicts the labels of the post, then adds it to the posts that the classifier learns
 * from. Returns whether a refit is due. */
static bool predict(tide_ingest *in)
{
    tide_stats stats = {0};
    tide_reader_stats(in->reader, &stats);
    tide_post_read post = {
        .words = in->post->views, .word_count = in->post->count, .time = stats.time};
    post.labels = tide_reader_labels(in->reader, &post.label_count);
    bool seen_before = tide_params_batch(in->params) && *in->passes > 0;
    return tide_labels_post(in->labels, &post, seen_before);
}

/* Returns false, and defers the post, if a stop has interrupted the refit. */
static bool refit(tide_ingest *in, bool stoppable)
{
    tide_ingest_drain(in);
    in->post->deferred = !tide_labels_refit(in->labels, stoppable);
    return !in->post->deferred;
}

static void count_words(tide_ingest *in)
{
    tide_pending_post *post = in->post;
    for (uint32_t at = 0; at < post->count; at += WORDS_AT_ONCE) {
        uint32_t left = post->count - at;
        size_t count = left < WORDS_AT_ONCE ? left : WORDS_AT_ONCE;
        in->tokens += count;
        tide_ingest_add_words(in, post->views + at, count);
    }
    post->count = 0;
}

/* The post has been read to its end, or (`complete` is false) to SENTENCE_MAX words:
 * predicts its labels, then counts its words. Returns false if it was deferred
 * instead. */
static bool finish_post(tide_ingest *in, bool complete)
{
    tide_pending_post *post = in->post;
    bool stoppable = complete && tide_reader_at_boundary(in->reader) &&
                     post->bytes_after <= DEFERRED_MAX;
    set_views(post);
    if (in->continued)
        in->cut_sentences += post->count > 0;
    else if (predict(in) && !refit(in, stoppable))
        return false;
    count_words(in);
    return true;
}

/* -- text -------------------------------------------------------------------------- */

/* Reads all words that the reader has, up to a post that is deferred. */
static void read_posts(tide_ingest *in)
{
    tide_pending_post *post = in->post;
    tide_word words[WORDS_AT_ONCE];
    for (;;) {
        uint32_t left = SENTENCE_MAX - post->count;
        bool ended;
        size_t count = tide_reader_next(
            in->reader, words, left < WORDS_AT_ONCE ? left : WORDS_AT_ONCE, &ended);
        if (!count && !ended)
            return;
        hold_words(post, words, count);
        if (!ended && post->count < SENTENCE_MAX)
            continue;
        if (!finish_post(in, ended))
            return;
        tide_ingest_end_sentence(in, ended);
    }
}

/* Appends text to what is deferred; false if it does not fit, or the text had ended. */
static bool defer_text(tide_pending_post *post, const char *bytes, size_t size)
{
    if (post->text_ended || size > DEFERRED_MAX - post->deferred_size)
        return false;
    memmove(post->deferred_text + post->deferred_size, bytes, size);
    post->deferred_size += size;
    return true;
}

/* Feeds text, which may be deferred_text itself, and defers what follows a deferred
 * post. Line by line where refits happen, so that none of them starts with a partial
 * line in the reader. */
static void feed_lines(tide_ingest *in, const char *bytes, size_t size)
{
    tide_pending_post *post = in->post;
    while (size && !post->deferred) {
        const char *newline =
            in->params->label_refit ? memchr(bytes, '\n', size) : NULL;
        size_t line = newline ? (size_t)(newline - bytes) + 1 : size;
        size_t used = tide_reader_feed(in->reader, bytes, line);
        bytes += used;
        size -= used;
        post->bytes_after = size;
        read_posts(in);
    }
    if (size)
        defer_text(post, bytes, size); /* fits: see `stoppable` in finish_post */
}

static void end_text(tide_ingest *in)
{
    tide_pending_post *post = in->post;
    if (post->deferred) {
        post->text_ended = true;
        return;
    }
    tide_reader_end(in->reader);
    read_posts(in);
    if (!post->deferred && (!post->count || finish_post(in, true)))
        tide_ingest_end_sentence(in, true);
}

/* Processes what is deferred: the refit, the post, and the text after it, in which
 * other posts may be deferred again. Where it is `stoppable`, a refit may be
 * interrupted again. Feeding reads from deferred_text and moves what remains to its
 * front. */
static void resume(tide_ingest *in, bool stoppable)
{
    tide_pending_post *post = in->post;
    while (post->deferred) {
        if (!refit(in, stoppable && !post->text_ended))
            return;
        set_views(post);
        count_words(in);
        tide_ingest_end_sentence(in, true);
        size_t size = post->deferred_size;
        bool ended = post->text_ended;
        post->deferred_size = 0;
        post->text_ended = false;
        feed_lines(in, post->deferred_text, size);
        if (ended)
            end_text(in);
    }
}

void tide_ingest_feed_posts(tide_ingest *in, const char *bytes, size_t size)
{
    bool appended = in->post->deferred && defer_text(in->post, bytes, size);
    resume(in, appended);
    if (!appended)
        feed_lines(in, bytes, size);
}

void tide_ingest_end_posts(tide_ingest *in)
{
    resume(in, true);
    end_text(in);
}

/* -- sections intake.post, intake.waiting and intake.behind ------------------------ */

enum { DEFERRED = 32, ENDED = 33, FLAGS_END = 34 }; /* bits of intake.post */

void tide_ingest_save_post(const tide_ingest *in, tide_store_writer *writer)
{
    const tide_pending_post *post = in->post;
    uint64_t state = post->count | (uint64_t)post->deferred << DEFERRED |
                     (uint64_t)post->text_ended << ENDED;
    tide_store_put(writer, "intake.post", &state, sizeof state);
    tide_held_words_save(post->words, post->count, "intake.waiting", writer);
    if (post->deferred)
        tide_store_put(writer, "intake.behind", post->deferred_text,
                       post->deferred_size);
}

static int corrupt(tide_store *store, const char *section, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section \"%s\" is corrupt",
                     tide_store_path(store), section);
}

static int load_deferred_text(tide_pending_post *post, tide_store *store,
                              tide_error *err)
{
    static const char section[] = "intake.behind";
    int64_t size = post->deferred ? tide_store_size(store, section, err) : 0;
    if (size <= 0)
        return (int)size;
    if (size > DEFERRED_MAX)
        return corrupt(store, section, err);
    post->deferred_size = (size_t)size;
    return tide_store_read(store, section, post->deferred_text, post->deferred_size,
                           err);
}

/* While a post is pending, no word of its sentence has been counted. Only a complete
 * post can have SENTENCE_MAX words. */
int tide_ingest_load_post(tide_ingest *in, tide_store *store, tide_error *err)
{
    tide_pending_post *post = in->post;
    uint64_t state;
    int status = tide_store_read(store, "intake.post", &state, sizeof state, err);
    if (status)
        return status;
    uint32_t count = (uint32_t)state;
    post->deferred = state >> DEFERRED & 1;
    post->text_ended = state >> ENDED & 1;
    if (state >> FLAGS_END || count >= SENTENCE_MAX + (uint32_t)post->deferred ||
        post->text_ended > post->deferred || in->token_count ||
        (post->deferred && in->continued))
        return corrupt(store, "intake.post", err);
    status = tide_held_words_load(post->words, count, "intake.waiting", store, err);
    if (!status)
        post->count = count;
    return status ? status : load_deferred_text(post, store, err);
}
