/* progress.c - the progress of training, on standard error and for systemd. */
#include "progress.h"
#include "log.h"
#include "output.h"
#include "systemd_notify.h"

#include "../server/process.h"

#include "base/base.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LOG_SECONDS = 10, EPOCH_TEXT = 64, DONE_TEXT = 64 };

void progress_begin(progress *p, const tide_stats *initial, bool quiet)
{
    double now = tide_now_seconds();
    *p = (progress){.terminal = isatty(STDERR_FILENO),
                    .quiet = quiet,
                    .started = now,
                    .last_shown = now - LOG_SECONDS,
                    .before_time = now,
                    .systemd_time = now,
                    .systemd_tokens = initial->tokens,
                    .before = *initial,
                    .initial = *initial};
}

/* Measures rates over at least `min_seconds`, or since the start until that much has
 * passed. */
static void measure_rates(progress *p, const tide_stats *stats, double now,
                          double min_seconds)
{
    /* Until min_seconds have passed since the start there is only a short interval to
     * go by; later the last full interval is shown until the next one is complete. */
    double seconds = now - p->before_time;
    bool first = p->before_time <= p->started;
    if (seconds <= 0 || (seconds < min_seconds && !first))
        return;
    p->word_rate = (double)(stats->tokens - p->before.tokens) / seconds;
    p->in_rate = (double)(stats->admitted - p->before.admitted) / seconds;
    p->out_rate = (double)(stats->evicted - p->before.evicted) / seconds;
    if (seconds < min_seconds)
        return;
    p->before = *stats;
    p->before_time = now;
}

static int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
        return 80;
    return size.ws_col;
}

/* Whether this is the first pass of batch training, which counts the words. */
static bool is_counting(const tide_stats *stats)
{
    return stats->epochs && !stats->epoch;
}

/* The current pass over the text; "" for a stream, which has only one. */
static const char *epoch_text(char text[EPOCH_TEXT], const tide_stats *stats)
{
    text[0] = '\0';
    if (stats->epochs)
        snprintf(text, EPOCH_TEXT, "epoch %" PRIu64 "/%" PRIu64 "  ", stats->epoch,
                 stats->epochs);
    return text;
}

/* The estimated rest at the average speed so far; negative while it is unknown. */
static double seconds_left(progress *p, const tide_stats *stats, double now)
{
    /* From the first call on, since a resumed run begins with a part done already, at
     * no cost of its own. */
    if (p->done_since <= 0) {
        p->done_first = stats->done;
        p->done_since = now;
    }
    double seconds = now - p->done_since, done = stats->done - p->done_first;
    return seconds > 1 && done > 0 ? (1 - stats->done) * seconds / done : -1;
}

/* Formats "  43%  2m10s left", or as much of it as is known. */
static const char *done_text(char text[DONE_TEXT], progress *p, const tide_stats *stats)
{
    text[0] = '\0';
    if (!(stats->done > 0))
        return text;
    double left = seconds_left(p, stats, tide_now_seconds());
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
    double left = seconds_left(p, stats, tide_now_seconds());
    log_printf(" done=%.4f", stats->done);
    if (left >= 0)
        log_printf(" seconds_left=%.0f", left);
}

static void overwrite_line(progress *p, const char *line)
{
    /* One column less than there are: in the last one, terminals may wrap. */
    log_printf("\r%.*s\033[K", terminal_columns() - 1, line);
    log_flush();
    p->line_open = true;
}

static void show_counting(progress *p, const tide_stats *stats)
{
    char words[SHORT_TEXT], rate[SHORT_TEXT], distinct[SHORT_TEXT], line[256];
    char done[DONE_TEXT];
    snprintf(line, sizeof line,
             "counting  %s words%s  %s/s  %s distinct  rss %" PRIu64 "M",
             short_count(words, (double)stats->tokens), done_text(done, p, stats),
             short_count(rate, p->word_rate),
             short_count(distinct, (double)stats->vocabulary), resident_bytes() >> 20);
    overwrite_line(p, line);
}

static void show_line(progress *p, const tide_stats *stats)
{
    char words[SHORT_TEXT], rate[SHORT_TEXT], held[SHORT_TEXT], capacity[SHORT_TEXT];
    char in[SHORT_TEXT], out[SHORT_TEXT], loss[SHORT_TEXT] = "-", line[256];
    char epoch[EPOCH_TEXT], done[DONE_TEXT];
    if (stats->loss > 0)
        snprintf(loss, sizeof loss, "%.2f", stats->loss);
    snprintf(
        line, sizeof line,
        "%s%s words%s  %s/s  vocab %s/%s  loss %s  rss %" PRIu64 "M  in %s/s out %s/s",
        epoch_text(epoch, stats), short_count(words, (double)stats->tokens),
        done_text(done, p, stats), short_count(rate, p->word_rate),
        short_count(held, (double)stats->vocabulary),
        short_count(capacity, (double)stats->capacity), loss, resident_bytes() >> 20,
        short_count(in, p->in_rate), short_count(out, p->out_rate));
    overwrite_line(p, line);
}

static void log_stats(const char *message, const tide_stats *stats, double rate)
{
    log_printf(
        "level=info msg=%s bytes=%" PRIu64 " words=%" PRIu64 " words_per_second=%.0f"
        " vocabulary=%" PRIu64 " admitted=%" PRIu64 " evicted=%" PRIu64
        " dropped_bytes=%" PRIu64 " loss=%.4f rss_bytes=%" PRIu64,
        message, stats->bytes, stats->tokens, rate, stats->vocabulary, stats->admitted,
        stats->evicted, stats->dropped_bytes, stats->loss, resident_bytes());
    if (stats->epochs)
        log_printf(" epoch=%" PRIu64 " epochs=%" PRIu64, stats->epoch, stats->epochs);
    char text[TIME_TEXT];
    const char *time = time_text(text, stats->time);
    if (time)
        log_printf(" time=%s", time);
}

/* The rate is that since the last notification. */
static void notify_systemd(progress *p, const tide_stats *stats, double now)
{
    char words[SHORT_TEXT], rate[SHORT_TEXT], text[128];
    if (is_counting(stats) || !systemd_is_due(stats->ending))
        return;
    double seconds = now - p->systemd_time;
    double learned = (double)(stats->tokens - p->systemd_tokens);
    snprintf(text, sizeof text, "%s%s words, %s/s", stats->ending ? "saving " : "",
             short_count(words, (double)stats->tokens),
             short_count(rate, seconds > 0 ? learned / seconds : 0));
    systemd_notify(text);
    p->systemd_time = now;
    p->systemd_tokens = stats->tokens;
}

void progress_update(void *data, const tide_stats *stats)
{
    progress *p = data;
    double now = tide_now_seconds();
    notify_systemd(p, stats, now);
    if (p->quiet)
        return;
    if (p->terminal) {
        measure_rates(p, stats, now, 1);
        (is_counting(stats) ? show_counting : show_line)(p, stats);
    } else if (now - p->last_shown >= LOG_SECONDS &&
               stats->tokens > p->initial.tokens) {
        /* Not while nothing was read: a log does not grow while a source is silent from
         * the start. */
        measure_rates(p, stats, now, 1e-3);
        log_stats(is_counting(stats) ? "counting" : "training", stats, p->word_rate);
        log_done(p, stats);
        log_printf("\n");
        p->last_shown = now;
    }
}

void progress_break(progress *p)
{
    if (p->line_open)
        log_printf("\n");
    p->line_open = false;
}

/* Appends a quoted logfmt value, cut to fit into a line. */
static void log_quoted(const char *text)
{
    char clean[PATH_MAX];
    /* Cleaned after it is cut, which may have split a character. */
    snprintf(clean, sizeof clean, "%s", text);
    tide_utf8_clean(clean);
    log_printf("\"");
    for (const char *at = clean; *at; at++)
        log_printf(*at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    log_printf("\"");
}

void progress_note(void *data, bool warning, const char *text)
{
    progress *p = data;
    if (p->quiet && !warning)
        return;
    if (p->terminal || p->quiet) {
        progress_break(p);
        log_message("%s", text);
        return;
    }
    log_printf("level=%s msg=", warning ? "warning" : "info");
    log_quoted(text);
    log_printf("\n");
}

void progress_budget(const progress *p, const tide_part *parts, int count)
{
    if (p->quiet)
        return;
    if (p->terminal) {
        print_budget(log_printf, parts, count);
        return;
    }
    log_printf("level=info msg=memory total_bytes=%" PRIu64,
               budget_total(parts, count));
    for (int i = 0; i < count; i++) {
        log_printf(" ");
        for (const char *c = parts[i].name; *c; c++)
            log_printf("%c", *c == ' ' || *c == '-' ? '_' : *c);
        log_printf("_bytes=%" PRIu64, parts[i].bytes);
    }
    log_printf("\n");
}

/* `backup` is the previous file; NULL if there was none. */
static void print_saved(const char *path, const char *backup)
{
    char text[2 * PATH_MAX + 64];
    snprintf(text, sizeof text,
             backup ? "saved to %s; the previous file is now %s" : "saved to %s", path,
             backup);
    tide_utf8_clean(text);
    log_printf("%s\n", text);
}

static void log_saved(const char *path, const char *backup)
{
    log_printf(" model=");
    log_quoted(path);
    if (backup) {
        log_printf(" earlier_model=");
        log_quoted(backup);
    }
}

void progress_end(progress *p, const tide_stats *stats, const char *path,
                  const char *backup, bool stopped)
{
    progress_break(p);
    if (p->quiet)
        return;
    double seconds = tide_now_seconds() - p->started;
    uint64_t words = stats->tokens - p->initial.tokens;
    double rate = seconds > 0 ? (double)words / seconds : 0;
    if (!p->terminal) {
        log_stats(stopped ? "stopped" : "finished", stats, rate);
        log_printf(" seconds=%.3f", seconds);
        if (path)
            log_saved(path, backup);
        log_printf("\n");
        return;
    }
    char count[SHORT_TEXT], speed[SHORT_TEXT], held[SHORT_TEXT];
    log_printf("%s after %s words in %.1f s (%s/s); %s words in the vocabulary\n",
               stopped ? "stopped" : "finished", short_count(count, (double)words),
               seconds, short_count(speed, rate),
               short_count(held, (double)stats->vocabulary));
    if (path)
        print_saved(path, backup);
}

/* Suggests nothing for a path that would have to be quoted in a shell. */
void progress_suggest(const progress *p, const char *path, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789._/-+,@%";
    if (!p->terminal || p->quiet || path[strspn(path, plain)])
        return;
    if (word)
        log_printf("try: wordtide nearest %s %s\n", path, word);
    else
        log_printf("try: wordtide words %s\n", path);
}

/* -- the classifier ---------------------------------------------------------------- */

bool progress_epoch(void *data, const tide_epoch *epoch)
{
    progress *p = data;
    double now = tide_now_seconds();
    char line[256];
    snprintf(line, sizeof line,
             "fitting: epoch %" PRIu32 " of at most %" PRIu32
             ", held-out loss %.4f, best %" PRIu32,
             epoch->epoch, epoch->max_epochs, epoch->held_out_loss, epoch->best_epoch);
    if (systemd_is_due(false))
        systemd_notify(line);
    if (p->quiet)
        return true;
    if (p->terminal) {
        overwrite_line(p, line);
    } else if (epoch->epoch == 1 || now - p->last_shown >= LOG_SECONDS) {
        log_printf("level=info msg=fitting epoch=%" PRIu32 " epochs_most=%" PRIu32
                   " loss=%.6f held_out_loss=%.6f best_epoch=%" PRIu32
                   " learned=%zu held_out=%zu seconds=%.3f\n",
                   epoch->epoch, epoch->max_epochs, epoch->loss, epoch->held_out_loss,
                   epoch->best_epoch, epoch->learned, epoch->held_out, epoch->seconds);
        p->last_shown = now;
    }
    return true;
}

static void log_fitted(const tide_label_stats *stats, const tide_epoch *last,
                       const char *path, const char *backup)
{
    log_printf("level=info msg=fitted posts=%" PRIu64 " unlabelled=%" PRIu64
               " empty=%" PRIu64 " cut=%" PRIu64 " kept=%" PRIu64 " used_bytes=%" PRIu64
               " labels=%" PRIu32 " told=%" PRIu32 " epoch=%" PRIu32
               " best_epoch=%" PRIu32 " held_out_loss=%.6f",
               stats->posts, stats->unlabeled, stats->empty, stats->cut, stats->kept,
               stats->used, stats->labels, stats->predicted, last->epoch,
               last->best_epoch, last->best_loss);
    log_saved(path, backup);
    log_printf("\n");
}

void progress_fitted(progress *p, const tide_label_stats *stats, const tide_epoch *last,
                     const char *path, const char *backup)
{
    progress_break(p);
    if (p->quiet)
        return;
    if (!p->terminal) {
        log_fitted(stats, last, path, backup);
        return;
    }
    char posts[SHORT_TEXT], labeled[SHORT_TEXT], labels[SHORT_TEXT];
    log_printf("%s posts, %s with a label; %s labels held, %" PRIu32 " predicted",
               short_count(posts, (double)stats->posts),
               short_count(labeled, (double)(stats->posts - stats->unlabeled)),
               short_count(labels, stats->labels), stats->predicted);
    if (last->held_out)
        log_printf("; held-out loss %.4f in epoch %" PRIu32 " of %" PRIu32,
                   last->best_loss, last->best_epoch, last->epoch);
    log_printf("\n");
    print_saved(path, backup);
}
