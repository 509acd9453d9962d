/* export.c - the model as a file in a format of other programs.
 *
 *     request ──► copy of the live model ──► unnamed file ──► response
 *
 * Copying takes a moment, writing takes long, and sending takes as long as the client
 * reads. So a thread of its own writes a copy, while training and all other requests
 * continue. The copy is freed when it is written; the file has no name and disappears
 * when it has been sent or the client is gone. There is one export at a time, from the
 * request to the last byte, which bounds the memory and disk space of exports.
 */
#include "export.h"

#include "answer.h"
#include "handlers.h"
#include "process.h"
#include "server_internal.h"

#include <wordtide/formats.h>
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
    volatile sig_atomic_t stop; /* polled while an export is written */
    tide_export options;
    char dtype[16]; /* of the options; longer than any valid one */

    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    request *pending;
    bool busy; /* until the last byte is sent or the client is gone */
    bool closing;
};

typedef struct download {
    exporter *exporter;
    int file;
    uint64_t size;
    bool released; /* the next export may begin */
} download;

/* -- the file ---------------------------------------------------------------------- */

/* Opens an unnamed file in $TMPDIR, otherwise next to the checkpoint, otherwise in
 * /tmp: wherever there is most likely enough space. */
static int open_unnamed_file(const char *checkpoint)
{
    char path[PATH_MAX];
    const char *directory = getenv("TMPDIR"), *slash = NULL;
    if (!directory && checkpoint) {
        slash = strrchr(checkpoint, '/');
        directory = slash ? checkpoint : ".";
    }
    if (!directory)
        directory = "/tmp";
    snprintf(path, sizeof path, "%.*s/.wordtide-export-XXXXXX",
             slash ? (int)(slash - checkpoint) : (int)strlen(directory), directory);
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

/* -- writing ----------------------------------------------------------------------- */

/* Copies the live model if there is memory for it. Returns NULL with an error
 * otherwise. */
static tide_model *copy_model(exporter *x, tide_error *err)
{
    tide_live *live = x->server->options.live;
    const tide_view *view = tide_live_acquire(live);
    uint64_t bytes = tide_view_copy_bytes(view, x->options.top);
    tide_model *copy = NULL;
    err->status = TIDE_ERROR_MEMORY;
    /* Asked before, since an allocation that is too large would not fail: the system
     * gives more than it has, and kills a process when the pages are used. */
    uint64_t available = available_bytes();
    if (bytes > available)
        snprintf(err->text, sizeof err->text,
                 "copying the vectors needs %llu bytes of memory, but %llu are "
                 "available; limit the copy with ?top=N",
                 (unsigned long long)bytes, (unsigned long long)available);
    else
        copy = tide_view_copy(view, x->options.top, err);
    tide_live_release(live, view);
    status_set_export(x->server->status, copy ? bytes : 0);
    return copy;
}

static int write_file(exporter *x, int file, tide_exported *done, tide_error *err)
{
    tide_model *copy = copy_model(x, err);
    if (!copy)
        return (int)err->status;
    int status = tide_model_export_open(copy, &x->options, file, done, err);
    tide_model_free(copy);
    status_set_export(x->server->status, 0);
    return status;
}

static const char *format_extension(const char *format)
{
    size_t count;
    const tide_format_info *formats = tide_formats(&count);
    while (strcmp(formats->name, format) != 0)
        formats++;
    return formats->ending;
}

/* -- sending ----------------------------------------------------------------------- */

static void release_exporter(exporter *x)
{
    pthread_mutex_lock(&x->lock);
    x->busy = false;
    pthread_mutex_unlock(&x->lock);
}

/* Releases the exporter with the last bytes, so that a client that has received them
 * can request the next export at once. */
static ptrdiff_t read_file(void *data, uint64_t position, char *bytes, size_t capacity)
{
    download *d = data;
    ssize_t size = -1;
    errno = EINTR; /* to enter the loop */
    while (size < 0 && errno == EINTR)
        size = pread(d->file, bytes, capacity, (off_t)position);
    /* The size was announced: an error, or a file that ends early, breaks the
     * connection, so that the client does not take a part for the whole. */
    if (size <= 0)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (position + (uint64_t)size == d->size && !d->released) {
        d->released = true;
        release_exporter(d->exporter);
    }
    return size;
}

static void free_download(void *data)
{
    download *d = data;
    close(d->file);
    if (!d->released)
        release_exporter(d->exporter);
    free(d);
}

/* Takes ownership of the file. A HEAD request reads nothing of it and releases the
 * exporter at once. */
static struct MHD_Response *new_response(exporter *x, int file, bool headers_only)
{
    struct stat info;
    download *d = calloc(1, sizeof *d);
    if (!d || fstat(file, &info) != 0) {
        free(d);
        close(file);
        release_exporter(x);
        return NULL;
    }
    *d = (download){.exporter = x,
                    .file = file,
                    .size = (uint64_t)info.st_size,
                    .released = headers_only};
    if (headers_only)
        release_exporter(x);
    struct MHD_Response *response = MHD_create_response_from_callback(
        d->size, BLOCK_BYTES, read_file, d, free_download);
    if (!response)
        free_download(d);
    return response;
}

static void answer_file(exporter *x, request *r, int file, const tide_exported *done)
{
    char text[64];
    const char *extension = format_extension(x->options.format);
    struct MHD_Response *response = new_response(x, file, r->head_only);
    if (!response)
        return;
    answer_with(r, 200, response);
    r->response_phase = PHASE_DOWNLOAD;
    set_header(r, "Content-Type", "application/octet-stream");
    snprintf(text, sizeof text, "attachment; filename=\"wordtide%s\"", extension);
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
                   stopped ? "the server is shutting down" : err->text);
}

/* -- the thread -------------------------------------------------------------------- */

static void answer_export(exporter *x, request *r)
{
    tide_error err = {.status = TIDE_ERROR_IO};
    tide_exported done = {0};
    int file = open_unnamed_file(x->server->options.checkpoint);
    if (file < 0)
        snprintf(err.text, sizeof err.text, "cannot create a temporary file: %s",
                 strerror(errno));
    if (file >= 0 && !write_file(x, file, &done, &err)) {
        answer_file(x, r, file, &done); /* owns the file, and releases the exporter */
        return;
    }
    answer_failure(x, r, &err);
    if (file >= 0)
        close(file);
    release_exporter(x);
}

static request *wait_for_request(exporter *x)
{
    pthread_mutex_lock(&x->lock);
    while (!x->pending && !x->closing)
        pthread_cond_wait(&x->changed, &x->lock);
    request *r = x->pending;
    x->pending = NULL;
    pthread_mutex_unlock(&x->lock);
    return r;
}

static void *run_exports(void *argument)
{
    exporter *x = argument;
    for (request *r; (r = wait_for_request(x));) {
        answer_export(x, r);
        resume_request(r);
    }
    return NULL;
}

/* -- lifetime ---------------------------------------------------------------------- */

exporter *exporter_open(server *s)
{
    exporter *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->server = s;
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    if (pthread_create(&x->thread, NULL, run_exports, x) == 0) {
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
    /* Ends an export that is being written; `closing` ends the wait for another. */
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

/* -- the route --------------------------------------------------------------------- */

/* Returns the static name of the requested format; NULL after answering with a
 * problem. */
static const char *read_format(request *r)
{
    size_t count;
    const tide_format_info *formats = tide_formats(&count);
    char *name = request_parameter(r, "format"), list[256] = "";
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!formats[i].writes || !formats[i].ending)
            continue;
        if (!strcmp(name ? name : "word2vec", formats[i].name))
            found = formats[i].name;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                 formats[i].name);
    }
    if (!found)
        answer_problem(r, 400, PROBLEM_PLAIN, NULL, "unknown format; use one of: %s",
                       list);
    free(name);
    return found;
}

static bool is_flag_set(const request *r, const char *name)
{
    char *text = request_parameter(r, name);
    bool set = text && !strcmp(text, "1");
    free(text);
    return set;
}

void get_export(request *r)
{
    exporter *x = r->server->exporter;
    const char *format = read_format(r);
    uint32_t top = 0;
    if (!format || !request_integer(r, "top", 1, UINT32_MAX, &top))
        return;
    char *dtype = request_parameter(r, "dtype");
    const tide_export options = {.format = format,
                                 .dtype = dtype ? x->dtype : NULL,
                                 .centered = is_flag_set(r, "center") ||
                                             is_flag_set(r, "centre"),
                                 .top = top,
                                 .stop = &x->stop};
    pthread_mutex_lock(&x->lock);
    bool busy = x->busy, closing = x->closing;
    if (!busy && !closing) {
        suspend_request(r);
        /* The thread reads the options without the lock: they change only here, while
         * it is not busy. */
        x->busy = true;
        x->options = options;
        snprintf(x->dtype, sizeof x->dtype, "%s", dtype ? dtype : "");
        x->pending = r;
        pthread_cond_signal(&x->changed);
    }
    pthread_mutex_unlock(&x->lock);
    free(dtype);
    if (closing)
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "the server is shutting down");
    else if (busy)
        answer_problem(r, 429, PROBLEM_BUSY, NULL,
                       "another export is being written or sent");
}
