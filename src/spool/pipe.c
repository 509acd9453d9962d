/* pipe.c - peeking into a pipe or socket before consuming from it.
 *
 * Linux can copy the contents of a pipe to another pipe without consuming them (tee),
 * and can peek into a socket. The bytes of a peek are consumed by one read of the same
 * size; they are all available, so that the read cannot be interrupted halfway.
 *
 * A terminal and other devices can only be read.
 */
#include "spool/pipe.h"

#include "file/file.h"
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ptrdiff_t peek_function(const tide_pipe *pipe, unsigned char *bytes);

struct tide_pipe {
    int descriptor;
    const char *name;
    peek_function *peek;
    int copy[2]; /* a pipe that receives the copy, empty between two peeks; -1 */
    unsigned char consumed[TIDE_PIPE_PEEK_MAX];
};

static int fail(const tide_pipe *p, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", p->name,
                     strerror(errno));
}

/* -- ways to peek: the result is as that of read(2) -------------------------------- */

static ptrdiff_t peek_pipe(const tide_pipe *p, unsigned char *bytes)
{
    ssize_t count =
        tee(p->descriptor, p->copy[1], TIDE_PIPE_PEEK_MAX, SPLICE_F_NONBLOCK);
    /* tee has duplicated the bytes into the second pipe, without consuming them from
     * the first. Reading that pipe empties it again. */
    for (ssize_t done = 0; done < count;) {
        ptrdiff_t n =
            tide_file_read_some(p->copy[0], bytes + done, (size_t)(count - done));
        if (n <= 0)
            return -1;
        done += n;
    }
    return count;
}

static ptrdiff_t peek_socket(const tide_pipe *p, unsigned char *bytes)
{
    return recv(p->descriptor, bytes, TIDE_PIPE_PEEK_MAX, MSG_PEEK | MSG_DONTWAIT);
}

static ptrdiff_t peek_by_reading(const tide_pipe *p, unsigned char *bytes)
{
    return read(p->descriptor, bytes, TIDE_PIPE_PEEK_MAX);
}

bool tide_pipe_can_peek(const tide_pipe *p)
{
    return p->peek != peek_by_reading;
}

/* -- peeking and consuming --------------------------------------------------------- */

tide_pipe *tide_pipe_new(int descriptor, const char *name, tide_error *err)
{
    struct stat status;
    tide_pipe *p = tide_alloc(1, sizeof *p);
    if (!p) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for source %s", name);
        return NULL;
    }
    p->descriptor = descriptor;
    p->name = name;
    p->copy[0] = p->copy[1] = -1;
    int failed = fstat(descriptor, &status);
    /* If fstat failed, the choice does not matter: the constructor fails below. */
    p->peek = S_ISFIFO(status.st_mode)   ? peek_pipe
              : S_ISSOCK(status.st_mode) ? peek_socket
                                         : peek_by_reading;
    if (!failed && p->peek == peek_pipe)
        failed = pipe2(p->copy, O_CLOEXEC | O_NONBLOCK);
    if (failed) {
        fail(p, err);
        tide_pipe_free(p);
        return NULL;
    }
    return p;
}

void tide_pipe_free(tide_pipe *p)
{
    if (!p)
        return;
    if (p->copy[0] >= 0) {
        close(p->copy[0]);
        close(p->copy[1]);
    }
    free(p);
}

/* Nothing is available after a signal, or if another process has consumed the bytes. */
ptrdiff_t tide_pipe_peek(tide_pipe *p, unsigned char bytes[TIDE_PIPE_PEEK_MAX],
                         int wait_ms, tide_error *err)
{
    struct pollfd waiting = {.fd = p->descriptor, .events = POLLIN};
    ptrdiff_t count = poll(&waiting, 1, wait_ms);
    if (count == 0)
        return TIDE_SOURCE_LATER;
    if (count > 0)
        count = p->peek(p, bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return TIDE_SOURCE_LATER;
    return count < 0 ? fail(p, err) : count;
}

static bool is_readable(const tide_pipe *p)
{
    struct pollfd readable = {.fd = p->descriptor, .events = POLLIN};
    return poll(&readable, 1, 0) != 0; /* the read reports a failure */
}

int tide_pipe_consume(tide_pipe *p, const unsigned char *bytes, size_t size,
                      tide_error *err)
{
    for (size_t done = 0; done < size;) {
        /* The bytes were there when they were peeked. If they are gone, another process
         * reads from the same pipe; waiting for more would consume bytes that are not
         * in the spool. */
        ptrdiff_t n = is_readable(p)
                          ? tide_file_read_some(p->descriptor, p->consumed, size - done)
                          : 0;
        if (n < 0)
            return fail(p, err);
        if (n == 0 || memcmp(p->consumed, bytes + done, (size_t)n) != 0)
            return tide_fail(err, TIDE_ERROR_IO,
                             "cannot read %s: another process is reading it, too",
                             p->name);
        done += (size_t)n;
    }
    return TIDE_OK;
}
