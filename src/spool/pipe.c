/* pipe.c - looking at a stream before taking it.
 *
 * Linux can copy what is in a pipe into another one and leave it there (tee), and can
 * peek into a socket. What was looked at is taken by one read of as many bytes; they are
 * all there, so that the read cannot be interrupted between two of them.
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

typedef ptrdiff_t look_function(const tide_pipe *pipe, unsigned char *bytes);

struct tide_pipe {
    int descriptor;
    const char *name;
    look_function *look;
    int copy[2]; /* a pipe of our own, empty between two looks; -1 */
    unsigned char taken[TIDE_PIPE_LOOK];
};

static int fail(const tide_pipe *p, tide_error *err)
{
    return tide_fail(err, TIDE_ERROR_IO, "cannot read %s: %s", p->name,
                     strerror(errno));
}

/* -- ways to look: as read ----------------------------------------------------------- */

static ptrdiff_t look_at_pipe(const tide_pipe *p, unsigned char *bytes)
{
    ssize_t count = tee(p->descriptor, p->copy[1], TIDE_PIPE_LOOK, SPLICE_F_NONBLOCK);
    for (ssize_t done = 0; done < count;) {
        ptrdiff_t n =
            tide_file_read_some(p->copy[0], bytes + done, (size_t)(count - done));
        if (n <= 0)
            return -1;
        done += n;
    }
    return count;
}

static ptrdiff_t look_at_socket(const tide_pipe *p, unsigned char *bytes)
{
    return recv(p->descriptor, bytes, TIDE_PIPE_LOOK, MSG_PEEK | MSG_DONTWAIT);
}

static ptrdiff_t look_by_reading(const tide_pipe *p, unsigned char *bytes)
{
    return read(p->descriptor, bytes, TIDE_PIPE_LOOK);
}

bool tide_pipe_is_kept(const tide_pipe *p)
{
    return p->look != look_by_reading;
}

/* -- looking and taking -------------------------------------------------------------- */

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
    p->look = S_ISFIFO(status.st_mode)   ? look_at_pipe
              : S_ISSOCK(status.st_mode) ? look_at_socket
                                         : look_by_reading;
    if (!failed && p->look == look_at_pipe)
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

/* A signal, or another process that takes the bytes, leaves us with nothing for now. */
ptrdiff_t tide_pipe_peek(tide_pipe *p, unsigned char bytes[TIDE_PIPE_LOOK], int wait_ms,
                         tide_error *err)
{
    struct pollfd waiting = {.fd = p->descriptor, .events = POLLIN};
    ptrdiff_t count = poll(&waiting, 1, wait_ms);
    if (count == 0)
        return TIDE_SOURCE_LATER;
    if (count > 0)
        count = p->look(p, bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return TIDE_SOURCE_LATER;
    return count < 0 ? fail(p, err) : count;
}

static bool is_there(const tide_pipe *p)
{
    struct pollfd there = {.fd = p->descriptor, .events = POLLIN};
    return poll(&there, 1, 0) != 0; /* a failure is the read's to tell */
}

int tide_pipe_consume(tide_pipe *p, const unsigned char *bytes, size_t size,
                      tide_error *err)
{
    for (size_t done = 0; done < size;) {
        ptrdiff_t n =
            is_there(p) ? tide_file_read_some(p->descriptor, p->taken, size - done) : 0;
        if (n < 0)
            return fail(p, err);
        if (n == 0 || memcmp(p->taken, bytes + done, (size_t)n) != 0)
            return tide_fail(err, TIDE_ERROR_IO,
                             "cannot read %s: another process takes its text as well",
                             p->name);
        done += (size_t)n;
    }
    return TIDE_OK;
}
