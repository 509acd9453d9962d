/* progress.c - how training is going, on standard error and for systemd. */
#include "progress.h"
#include "notify.h"
#include "output.h"
#include "saying.h"

#include "../server/process.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LOG_SECONDS = 10, EPOCH_TEXT = 64, DONE_TEXT = 64 };

void progress_begin(progress *p, const tide_stats *initial, bool quiet)
{
    double now = now_seconds();
    *p = (progress){.terminal = isatty(STDERR_FILENO),
                    .quiet = quiet,
                    .started = now,
                    .shown = now - LOG_SECONDS,
                    .sampled = now,
                    .told = now,
                    .told_tokens = initial->tokens,
                    .before = *initial,
                    .initial = *initial};
}

/* Rates over at least so many seconds, or from the start while that is less ago. */
static void measure_rates(progress *p, const tide_stats *stats, double now,
                          double least_seconds)
{
    double seconds = now - p->sampled;
    bool first = p->sampled <= p->started;
    if (seconds <= 0 || (seconds < least_seconds && !first))
        return;
    p->words_rate = (double)(stats->tokens - p->before.tokens) / seconds;
    p->in_rate = (double)(stats->admitted - p->before.admitted) / seconds;
    p->out_rate = (double)(stats->evicted - p->before.evicted) / seconds;
    if (seconds < least_seconds)
        return;
    p->before = *stats;
    p->sampled = now;
}

static int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
        return 80;
    return size.ws_col;
}

/* The first pass of batch training. */
static bool counting(const tide_stats *stats)
{
    return stats->epochs && !stats->epoch;
}

/* Which pass over the text it is; "" for a stream, which has but one. */
static const char *epoch_text(char text[EPOCH_TEXT], const tide_stats *stats)
{
    text[0] = '\0';
    if (stats->epochs)
        snprintf(text, EPOCH_TEXT, "epoch %" PRIu64 "/%" PRIu64 "  ", stats->epoch,
                 stats->epochs);
    return text;
}

/* How long it still takes at the speed that it had so far; negative while nobody can tell. */
static double seconds_left(progress *p, const tide_stats *stats, double now)
{
    if (p->done_since <= 0) {
        p->done_first = stats->done;
        p->done_since = now;
    }
    double seconds = now - p->done_since, done = stats->done - p->done_first;
    return seconds > 1 && done > 0 ? (1 - stats->done) * seconds / done : -1;
}

/* "  43%  2m10s left", or as much of it as is known. */
static const char *done_text(char text[DONE_TEXT], progress *p, const tide_stats *stats)
{
    text[0] = '\0';
    if (!(stats->done > 0))
        return text;
    double left = seconds_left(p, stats, now_seconds());
    int length = snprintf(text, DONE_TEXT, "  %d%%", (int)(100 * stats->done));
    uint64_t whole = left > 0 && left < 1e9 ? (uint64_t)left : 0;
    if (left >= 0 && whole < 60)
        snprintf(text + length, (size_t)(DONE_TEXT - length), "  %" PRIu64 "s left",
                 whole);
    else if (left >= 0 && whole < 3600)
        snprintf(text + length, (size_t)(DONE_TEXT - length),
                 "  %" PRIu64 "m%02" PRIu64 "s left", whole / 60, whole % 60);
    else if (left >= 0)
        snprintf(text + length, (size_t)(DONE_TEXT - length),
                 "  %" PRIu64 "h%02" PRIu64 "m left", whole / 3600, whole / 60 % 60);
    return text;
}

static void log_done(progress *p, const tide_stats *stats)
{
    if (!(stats->done > 0))
        return;
    double left = seconds_left(p, stats, now_seconds());
    say(" done=%.4f", stats->done);
    if (left >= 0)
        say(" seconds_left=%.0f", left);
}

static void write_over(progress *p, const char *line)
{
    say("\r%.*s\033[K", terminal_columns() - 1, line);
    say_so_far();
    p->line_open = true;
}

static void show_counting(progress *p, const tide_stats *stats)
{
    char words[SHORT_TEXT], rate[SHORT_TEXT], different[SHORT_TEXT], line[256];
    char done[DONE_TEXT];
    snprintf(line, sizeof line,
             "counting  %s words%s  %s/s  %s different  rss %" PRIu64 "M",
             short_count(words, (double)stats->tokens), done_text(done, p, stats),
             short_count(rate, p->words_rate),
             short_count(different, (double)stats->vocabulary), resident_bytes() >> 20);
    write_over(p, line);
}

static void show_line(progress *p, const tide_stats *stats)
{
    char words[SHORT_TEXT], rate[SHORT_TEXT], held[SHORT_TEXT], room[SHORT_TEXT];
    char in[SHORT_TEXT], out[SHORT_TEXT], loss[SHORT_TEXT] = "-", line[256];
    char epoch[EPOCH_TEXT], done[DONE_TEXT];
    if (stats->loss > 0)
        snprintf(loss, sizeof loss, "%.2f", stats->loss);
    snprintf(line, sizeof line,
             "%s%s words%s  %s/s  vocab %s/%s  loss %s  rss %" PRIu64
             "M  in %s/s out %s/s",
             epoch_text(epoch, stats), short_count(words, (double)stats->tokens),
             done_text(done, p, stats), short_count(rate, p->words_rate),
             short_count(held, (double)stats->vocabulary),
             short_count(room, (double)stats->capacity), loss, resident_bytes() >> 20,
             short_count(in, p->in_rate), short_count(out, p->out_rate));
    write_over(p, line);
}

static void log_stats(const char *message, const tide_stats *stats, double rate)
{
    say("level=info msg=%s bytes=%" PRIu64 " words=%" PRIu64 " words_per_second=%.0f"
        " vocabulary=%" PRIu64 " admitted=%" PRIu64 " evicted=%" PRIu64
        " dropped_bytes=%" PRIu64 " loss=%.4f rss_bytes=%" PRIu64,
        message, stats->bytes, stats->tokens, rate, stats->vocabulary, stats->admitted,
        stats->evicted, stats->dropped_bytes, stats->loss, resident_bytes());
    if (stats->epochs)
        say(" epoch=%" PRIu64 " epochs=%" PRIu64, stats->epoch, stats->epochs);
    char text[TIME_TEXT];
    const char *time = time_text(text, stats->time);
    if (time)
        say(" time=%s", time);
}

/* The rate is that since the last time. */
static void tell_service(progress *p, const tide_stats *stats, double now)
{
    char words[SHORT_TEXT], rate[SHORT_TEXT], text[128];
    if (counting(stats) || !notify_due(stats->ending))
        return;
    double seconds = now - p->told;
    double learned = (double)(stats->tokens - p->told_tokens);
    snprintf(text, sizeof text, "%s%s words, %s/s", stats->ending ? "saving " : "",
             short_count(words, (double)stats->tokens),
             short_count(rate, seconds > 0 ? learned / seconds : 0));
    notify_tell(text);
    p->told = now;
    p->told_tokens = stats->tokens;
}

void progress_watch(void *data, const tide_stats *stats)
{
    progress *p = data;
    double now = now_seconds();
    tell_service(p, stats, now);
    if (p->quiet)
        return;
    if (p->terminal) {
        measure_rates(p, stats, now, 1);
        (counting(stats) ? show_counting : show_line)(p, stats);
    } else if (now - p->shown >= LOG_SECONDS && stats->tokens > p->initial.tokens) {
        measure_rates(p, stats, now, 1e-3);
        log_stats(counting(stats) ? "counting" : "training", stats, p->words_rate);
        log_done(p, stats);
        say("\n");
        p->shown = now;
    }
}

void progress_break(progress *p)
{
    if (p->line_open)
        say("\n");
    p->line_open = false;
}

/* A logfmt value in quotes, cut to what a line holds. */
static void log_quoted(const char *text)
{
    char clean[PATH_MAX];
    snprintf(clean, sizeof clean, "%s", text);
    clean_text(clean);
    say("\"");
    for (const char *at = clean; *at; at++)
        say(*at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    say("\"");
}

void progress_note(void *data, bool warning, const char *text)
{
    progress *p = data;
    if (p->quiet && !warning)
        return;
    if (p->terminal || p->quiet) {
        progress_break(p);
        complain("%s", text);
        return;
    }
    say("level=%s msg=", warning ? "warning" : "info");
    log_quoted(text);
    say("\n");
}

void progress_budget(const progress *p, const tide_part *parts, int count)
{
    if (p->quiet)
        return;
    if (p->terminal) {
        print_budget(say, parts, count);
        return;
    }
    say("level=info msg=memory total_bytes=%" PRIu64, budget_total(parts, count));
    for (int i = 0; i < count; i++) {
        say(" ");
        for (const char *c = parts[i].name; *c; c++)
            say("%c", *c == ' ' || *c == '-' ? '_' : *c);
        say("_bytes=%" PRIu64, parts[i].bytes);
    }
    say("\n");
}

/* `older` is what became of the file that was there; NULL if there was none. */
static void say_saved(const char *path, const char *older)
{
    char text[2 * PATH_MAX + 64];
    snprintf(text, sizeof text,
             older ? "saved to %s; what was there is now %s" : "saved to %s", path,
             older);
    clean_text(text);
    say("%s\n", text);
}

static void log_saved(const char *path, const char *older)
{
    say(" model=");
    log_quoted(path);
    if (older) {
        say(" earlier_model=");
        log_quoted(older);
    }
}

void progress_end(progress *p, const tide_stats *stats, const char *path,
                  const char *older, bool stopped)
{
    progress_break(p);
    if (p->quiet)
        return;
    double seconds = now_seconds() - p->started;
    uint64_t words = stats->tokens - p->initial.tokens;
    double rate = seconds > 0 ? (double)words / seconds : 0;
    if (!p->terminal) {
        log_stats(stopped ? "stopped" : "finished", stats, rate);
        say(" seconds=%.3f", seconds);
        if (path)
            log_saved(path, older);
        say("\n");
        return;
    }
    char count[SHORT_TEXT], speed[SHORT_TEXT], held[SHORT_TEXT];
    say("%s after %s words in %.1f s (%s/s); %s words in the vocabulary\n",
        stopped ? "stopped" : "finished", short_count(count, (double)words), seconds,
        short_count(speed, rate), short_count(held, (double)stats->vocabulary));
    if (path)
        say_saved(path, older);
}

/* A path that a shell would read otherwise is left to who has typed it. */
void progress_suggest(const progress *p, const char *path, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789._/-+,@%";
    if (!p->terminal || p->quiet || path[strspn(path, plain)])
        return;
    if (word)
        say("try: wordtide nearest %s %s\n", path, word);
    else
        say("try: wordtide words %s\n", path);
}

/* -- the classifier ------------------------------------------------------------------ */

bool progress_epoch(void *data, const tide_epoch *epoch)
{
    progress *p = data;
    double now = now_seconds();
    char line[256];
    snprintf(line, sizeof line,
             "fitting: epoch %" PRIu32 " of at most %" PRIu32
             ", held-out loss %.4f, best %" PRIu32,
             epoch->epoch, epoch->epochs_most, epoch->held_out_loss, epoch->best_epoch);
    if (notify_due(false))
        notify_tell(line);
    if (p->quiet)
        return true;
    if (p->terminal) {
        write_over(p, line);
    } else if (epoch->epoch == 1 || now - p->shown >= LOG_SECONDS) {
        say("level=info msg=fitting epoch=%" PRIu32 " epochs_most=%" PRIu32
            " loss=%.6f held_out_loss=%.6f best_epoch=%" PRIu32
            " learned=%zu held_out=%zu seconds=%.3f\n",
            epoch->epoch, epoch->epochs_most, epoch->loss, epoch->held_out_loss,
            epoch->best_epoch, epoch->learned, epoch->held_out, epoch->seconds);
        p->shown = now;
    }
    return true;
}

static void log_fitted(const tide_label_stats *stats, const tide_epoch *last,
                       const char *path, const char *older)
{
    say("level=info msg=fitted posts=%" PRIu64 " unlabelled=%" PRIu64 " empty=%" PRIu64
        " cut=%" PRIu64 " kept=%" PRIu64 " used_bytes=%" PRIu64 " labels=%" PRIu32
        " told=%" PRIu32 " epoch=%" PRIu32 " best_epoch=%" PRIu32 " held_out_loss=%.6f",
        stats->posts, stats->unlabeled, stats->empty, stats->cut, stats->kept,
        stats->used, stats->labels, stats->told, last->epoch, last->best_epoch,
        last->best_loss);
    log_saved(path, older);
    say("\n");
}

void progress_fitted(progress *p, const tide_label_stats *stats, const tide_epoch *last,
                     const char *path, const char *older)
{
    progress_break(p);
    if (p->quiet)
        return;
    if (!p->terminal) {
        log_fitted(stats, last, path, older);
        return;
    }
    char posts[SHORT_TEXT], labeled[SHORT_TEXT], labels[SHORT_TEXT];
    say("%s posts, %s with a label; %s labels held, %" PRIu32 " told",
        short_count(posts, (double)stats->posts),
        short_count(labeled, (double)(stats->posts - stats->unlabeled)),
        short_count(labels, stats->labels), stats->told);
    if (last->held_out)
        say("; held-out loss %.4f in epoch %" PRIu32 " of %" PRIu32, last->best_loss,
            last->best_epoch, last->epoch);
    say("\n");
    say_saved(path, older);
}
