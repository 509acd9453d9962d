/* pipe.h - peeking into a pipe or socket before consuming from it. Private. */
#ifndef TIDE_SPOOL_PIPE_H
#define TIDE_SPOOL_PIPE_H

#include "base/base.h"

enum { TIDE_PIPE_PEEK_MAX = TIDE_SIZE(64 << 10, 1024) }; /* bytes */

typedef struct tide_pipe tide_pipe;

/* `name` is for messages. The caller keeps ownership of it and of the descriptor. */
tide_pipe *tide_pipe_new(int descriptor, const char *name, tide_error *err);
void tide_pipe_free(tide_pipe *pipe);

/* Whether bytes remain in the pipe after a peek, until they are consumed. Otherwise
 * (for a terminal and other devices) a peek consumes them. */
bool tide_pipe_can_peek(const tide_pipe *pipe);

/* Copies the next bytes, at most TIDE_PIPE_PEEK_MAX; 0 at the end; TIDE_SOURCE_LATER if
 * nothing has arrived within `wait_ms`. */
ptrdiff_t tide_pipe_peek(tide_pipe *pipe, unsigned char bytes[TIDE_PIPE_PEEK_MAX],
                         int wait_ms, tide_error *err);

/* Consumes the bytes of the last peek, or the first of them. Atomic: if the process is
 * killed, either all or none of them are gone. */
int tide_pipe_consume(tide_pipe *pipe, const unsigned char *bytes, size_t size,
                      tide_error *err);

#endif
