/* export.c - the vectors as they are now, as a file for other programs.
 *
 *     request ──► copy of the live model ──► file without a name ──► answer
 *
 * To copy takes a moment, to write takes long, and to send takes as long as whoever reads. So a copy is written, by a
 * thread of its own, while learning and all other answers go on; it is gone when it is written, and the file, which
 * has no name already, when it is sent or nobody wants it any more. There is one export at a time, from the asking
 * to the last byte: that bounds the memory and the disk that they take together.
 */
#include "http.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 64 << 10 };

struct exporter {
    server *server;
    pthread_t thread;
    volatile sig_atomic_t stop; /* read while an export is written */
    tide_export how;
    char dtype[16]; /* of how; longer than any that there is */

    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    request *asked;
    bool busy; /* until the last bytes go, or nobody wants them any more */
    bool closing;
};

typedef struct download {
    exporter *exporter;
    int file;
    uint64_t size;
    bool done; /* the next export may begin */
} download;

/* -- the file --------------------------------------------------------------------------------------------- */

/* Where there is most likely room: what $TMPDIR says, beside the checkpoint, /tmp. */
static int open_nameless(const char *checkpoint)
{
    char path[PATH_MAX];
    const char *folder = getenv("TMPDIR"), *slash = NULL;
    if (!folder && checkpoint) {
        slash = strrchr(checkpoint, '/');
        folder = slash ? checkpoint : ".";
    }
    if (!folder)
        folder = "/tmp";
    snprintf(path, sizeof path, "%.*s/.wordtide-export-XXXXXX",
             slash ? (int)(slash - checkpoint) : (int)strlen(folder), folder);
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

/* -- writing ------------------------------------------------------------------------------------------------- */

static tide_model *copy_model(exporter *x, tide_error *err)
{
    tide_live *live = x->server->options.live;
    const tide_view *space = tide_live_acquire(live);
    uint64_t bytes = tide_view_copy_bytes(space, x->how.top);
    tide_model *copy = NULL;
    err->status = TIDE_ERROR_MEMORY;
    uint64_t available = available_bytes();
    if (bytes > available)
        snprintf(err->text, sizeof err->text,
                 "a copy of the vectors takes %llu bytes of memory, and %llu may be "
                 "taken; ?top=N makes it smaller",
                 (unsigned long long)bytes, (unsigned long long)available);
    else
        copy = tide_view_copy(space, x->how.top, err);
    tide_live_release(live, space);
    figures_exporting(x->server->figures, copy ? bytes : 0);
    return copy;
}

static int write_file(exporter *x, int file, tide_exported *done, tide_error *err)
{
    tide_model *copy = copy_model(x, err);
    if (!copy)
        return (int)err->status;
    int status = tide_model_export_open(copy, &x->how, file, done, err);
    tide_model_free(copy);
    figures_exporting(x->server->figures, 0);
    return status;
}

static const char *ending_of(const char *format)
{
    size_t count;
    const tide_format_info *formats = tide_formats(&count);
    while (strcmp(formats->name, format) != 0)
        formats++;
    return formats->ending;
}

/* -- sending ------------------------------------------------------------------------------------------------- */

static void let_next(exporter *x)
{
    pthread_mutex_lock(&x->lock);
    x->busy = false;
    pthread_mutex_unlock(&x->lock);
}

/* Who has the last bytes may ask for the next file at once. */
static ptrdiff_t read_some(void *data, uint64_t position, char *bytes, size_t room)
{
    download *d = data;
    ssize_t size = -1;
    errno = EINTR;
    while (size < 0 && errno == EINTR)
        size = pread(d->file, bytes, room, (off_t)position);
    if (size <= 0)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (position + (uint64_t)size == d->size && !d->done) {
        d->done = true;
        let_next(d->exporter);
    }
    return size;
}

static void forget(void *data)
{
    download *d = data;
    close(d->file);
    if (!d->done)
        let_next(d->exporter);
    free(d);
}

/* Takes the file. Of one that only its headers are asked for nothing is read, and the next may begin. */
static struct MHD_Response *new_response(exporter *x, int file, bool headers_only)
{
    struct stat about;
    download *d = calloc(1, sizeof *d);
    if (!d || fstat(file, &about) != 0) {
        free(d);
        close(file);
        let_next(x);
        return NULL;
    }
    *d = (download){.exporter = x,
                    .file = file,
                    .size = (uint64_t)about.st_size,
                    .done = headers_only};
    if (headers_only)
        let_next(x);
    struct MHD_Response *response =
        MHD_create_response_from_callback(d->size, BLOCK_BYTES, read_some, d, forget);
    if (!response)
        forget(d);
    return response;
}

static void answer_file(exporter *x, request *r, int file, const tide_exported *done)
{
    char text[64];
    const char *ending = ending_of(x->how.format);
    struct MHD_Response *response = new_response(x, file, r->headers_only);
    if (!response)
        return;
    answer_with(r, 200, response);
    r->phase = PHASE_DOWNLOAD;
    set_header(r, "Content-Type", "application/octet-stream");
    snprintf(text, sizeof text, "attachment; filename=\"wordtide%s\"", ending);
    set_header(r, "Content-Disposition", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)done->words);
    set_header(r, "Wordtide-Words", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)done->left_out);
    set_header(r, "Wordtide-Left-Out", text);
}

static void answer_failure(const exporter *x, request *r, const tide_error *err)
{
    bool stopped = __atomic_load_n(&x->stop, __ATOMIC_RELAXED);
    int status = stopped                               ? 503
                 : err->status == TIDE_ERROR_PARAMETER ? 400
                 : err->status == TIDE_ERROR_MEMORY    ? 503
                                                       : 500;
    answer_problem(r, status, PROBLEM_PLAIN, NULL, "%s",
                   stopped ? "the server stops" : err->text);
}

/* -- one after the other ---------------------------------------------------------------------------------------- */

static void answer_export(exporter *x, request *r)
{
    tide_error err = {.status = TIDE_ERROR_IO};
    tide_exported done = {0};
    int file = open_nameless(x->server->options.checkpoint);
    if (file < 0)
        snprintf(err.text, sizeof err.text, "no file to export to: %s",
                 strerror(errno));
    if (file >= 0 && !write_file(x, file, &done, &err)) {
        answer_file(x, r, file, &done);
        return;
    }
    answer_failure(x, r, &err);
    if (file >= 0)
        close(file);
    let_next(x);
}

static request *take_request(exporter *x)
{
    pthread_mutex_lock(&x->lock);
    while (!x->asked && !x->closing)
        pthread_cond_wait(&x->changed, &x->lock);
    request *r = x->asked;
    x->asked = NULL;
    pthread_mutex_unlock(&x->lock);
    return r;
}

static void *work(void *argument)
{
    exporter *x = argument;
    for (request *r; (r = take_request(x));) {
        answer_export(x, r);
        go_on(r);
    }
    return NULL;
}

/* -- life --------------------------------------------------------------------------------------------------------- */

exporter *exporter_open(server *s)
{
    exporter *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->server = s;
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    if (pthread_create(&x->thread, NULL, work, x) == 0) {
        pthread_setname_np(x->thread, "export");
        return x;
    }
    free(x);
    return NULL;
}

void exporter_close(exporter *x)
{
    if (!x)
        return;
    __atomic_store_n(&x->stop, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&x->lock);
    x->closing = true;
    pthread_cond_signal(&x->changed);
    pthread_mutex_unlock(&x->lock);
    pthread_join(x->thread, NULL);
}

void exporter_free(exporter *x)
{
    if (!x)
        return;
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

/* -- asking --------------------------------------------------------------------------------------------------------- */

/* The format by its own name, which lasts; NULL after a problem was answered. */
static const char *take_format(request *r)
{
    size_t count;
    const tide_format_info *formats = tide_formats(&count);
    char *wanted = parameter(r, "format"), list[256] = "";
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!formats[i].writes || !formats[i].ending)
            continue;
        if (!strcmp(wanted ? wanted : "word2vec", formats[i].name))
            found = formats[i].name;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                 formats[i].name);
    }
    if (!found)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "format is one of: %s", list);
    free(wanted);
    return found;
}

static bool take_flag(const request *r, const char *name)
{
    char *text = parameter(r, name);
    bool set = text && !strcmp(text, "1");
    free(text);
    return set;
}

void get_export(request *r)
{
    exporter *x = r->server->exporter;
    const char *format = take_format(r);
    uint32_t top = 0;
    if (!format || !number_parameter(r, "top", 1, UINT32_MAX, &top))
        return;
    char *dtype = parameter(r, "dtype");
    const tide_export how = {.format = format,
                             .dtype = dtype ? x->dtype : NULL,
                             .centered = take_flag(r, "centre"),
                             .top = top,
                             .stop = &x->stop};
    pthread_mutex_lock(&x->lock);
    bool busy = x->busy, closing = x->closing;
    if (!busy && !closing) {
        wait_for_answer(r);
        x->busy = true;
        x->how = how;
        snprintf(x->dtype, sizeof x->dtype, "%s", dtype ? dtype : "");
        x->asked = r;
        pthread_cond_signal(&x->changed);
    }
    pthread_mutex_unlock(&x->lock);
    free(dtype);
    if (closing)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server stops");
    else if (busy)
        answer_problem(r, 429, PROBLEM_BUSY, NULL,
                       "another export is being written or sent");
}
