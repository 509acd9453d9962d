/* ingest_posts.c - posts with labels, which are shown to others before anything of them is counted.
 *
 * Words of a line are counted as they are read, before anybody knows where it ends. A post with labels must
 * not be: what is told of it has to come from the posts before it alone. So its words wait here until it
 * is complete, and are then taken in one go. Of a line that is longer than a sentence may be, the first
 * sentence is the post; the others are learned and are nobody's post.
 *
 * Between its being shown and its words being taken, the classifier may learn anew, which can take long, and
 * the run may be asked to stop meanwhile. To go on later as if nothing had been, the classifier must then learn
 * from what it would have learned from now: so the post goes on waiting, and with it the text that was
 * already read behind it. Both are part of the model file, and are made up for before more text is
 * taken. For this, text is fed line by line. Where a stop cannot wait so, in the middle of a line or with
 * too much text behind it, the classifier learns to its end.
 */
#include "file/file.h"
#include "label/label.h"
#include "params/params.h"
#include "reader/reader.h"
#include "train/ingest_internal.h"
#include "train/train.h"

void tide_ingest_hold_words(tide_ingest *in, const tide_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        held_word *word = &in->waiting->words[in->waiting->count++];
        memcpy(word->bytes, words[i].bytes, words[i].length);
        word->length = words[i].length;
    }
}

/* Whether the classifier is to learn anew. */
static bool show(tide_ingest *in)
{
    tide_stats stats = {0};
    tide_reader_stats(in->reader, &stats);
    tide_post_read post = {.words = in->waiting->views,
                           .word_count = in->waiting->count,
                           .time = stats.time};
    post.labels = tide_reader_labels(in->reader, &post.label_count);
    bool again = tide_params_batch(in->params) && *in->passes > 0;
    return tide_labels_post(in->labels, &post, again);
}

static bool refit(tide_ingest *in, bool stoppable)
{
    tide_ingest_drain(in);
    in->waiting->unfitted = !tide_labels_refit(in->labels, stoppable);
    return !in->waiting->unfitted;
}

static void view_words(tide_held_post *post)
{
    for (uint32_t i = 0; i < post->count; i++)
        post->views[i] = (tide_word){post->words[i].bytes, post->words[i].length};
}

static void take_waiting(tide_ingest *in)
{
    tide_held_post *post = in->waiting;
    for (uint32_t at = 0; at < post->count; at += WORDS_AT_ONCE) {
        uint32_t left = post->count - at;
        size_t count = left < WORDS_AT_ONCE ? left : WORDS_AT_ONCE;
        in->tokens += count;
        in->read += (uint32_t)tide_ingest_take(in, post->views + at, count);
    }
    post->count = 0;
}

bool tide_ingest_take_post(tide_ingest *in, bool ended)
{
    tide_held_post *post = in->waiting;
    bool stoppable =
        ended && tide_reader_at_boundary(in->reader) && post->left <= BEHIND_MAX;
    view_words(post);
    if (in->continued)
        in->cut_sentences += post->count > 0;
    else if (show(in) && !refit(in, stoppable))
        return false;
    take_waiting(in);
    return true;
}

/* -- what a stop has left undone ------------------------------------------------------------------------- */

size_t tide_ingest_piece(const tide_ingest *in, const char *bytes, size_t size)
{
    const char *feed =
        in->waiting && in->params->label_refit ? memchr(bytes, '\n', size) : NULL;
    return feed ? (size_t)(feed - bytes) + 1 : size;
}

bool tide_ingest_defer_text(tide_ingest *in, const char *bytes, size_t size)
{
    tide_held_post *post = in->waiting;
    if (post->ended || size > BEHIND_MAX - post->behind_size)
        return false;
    memmove(post->behind + post->behind_size, bytes, size);
    post->behind_size += size;
    return true;
}

/* Text is fed from where it is kept, and what has to be kept again moves to the front of it. */
void tide_ingest_resume_deferred(tide_ingest *in, bool stoppable)
{
    while (tide_ingest_is_deferred(in)) {
        tide_held_post *post = in->waiting;
        if (!refit(in, stoppable && !post->ended))
            return;
        view_words(post);
        take_waiting(in);
        tide_ingest_end_sentence(in, true);
        size_t size = post->behind_size;
        bool ended = post->ended;
        post->behind_size = 0;
        post->ended = false;
        tide_ingest_feed_now(in, post->behind, size);
        if (ended)
            tide_ingest_end(in);
    }
}

/* -- sections intake.post, intake.waiting and intake.behind ---------------------------------------------- */

enum { UNFITTED = 32, ENDED = 33, FLAGS_END = 34 }; /* bits of intake.post */

void tide_ingest_save_deferred(const tide_ingest *in, tide_store_writer *writer)
{
    const tide_held_post *post = in->waiting;
    uint64_t state = post->count | (uint64_t)post->unfitted << UNFITTED |
                     (uint64_t)post->ended << ENDED;
    tide_store_put(writer, "intake.post", &state, sizeof state);
    tide_held_words_save(post->words, post->count, "intake.waiting", writer);
    if (post->unfitted)
        tide_store_put(writer, "intake.behind", post->behind, post->behind_size);
}

static int impossible(tide_store *store, const char *section, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_FORMAT, "%s: section %s is impossible",
                     tide_store_path(store), section);
}

static int load_behind(tide_held_post *post, tide_store *store, tide_error *err)
{
    static const char section[] = "intake.behind";
    int64_t size = post->unfitted ? tide_store_size(store, section, err) : 0;
    if (size <= 0)
        return (int)size;
    if (size > BEHIND_MAX)
        return impossible(store, section, err);
    post->behind_size = (size_t)size;
    return tide_store_read(store, section, post->behind, post->behind_size, err);
}

/* No word of a sentence has been taken while its post waits. A post that is complete may be as long as one can be. */
int tide_ingest_load_deferred(tide_ingest *in, tide_store *store, tide_error *err)
{
    tide_held_post *post = in->waiting;
    uint64_t state;
    int status = tide_store_read(store, "intake.post", &state, sizeof state, err);
    if (status)
        return status;
    uint32_t count = (uint32_t)state;
    post->unfitted = state >> UNFITTED & 1;
    post->ended = state >> ENDED & 1;
    if (state >> FLAGS_END || count >= SENTENCE_MAX + (uint32_t)post->unfitted ||
        post->ended > post->unfitted || in->read || (post->unfitted && in->continued))
        return impossible(store, "intake.post", err);
    status = tide_held_words_load(post->words, count, "intake.waiting", store, err);
    if (!status)
        post->count = count;
    return status ? status : load_behind(post, store, err);
}
