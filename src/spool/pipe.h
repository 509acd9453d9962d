/* pipe.h - a stream that can be looked at before it is taken, where the system can do that. Private. */
#ifndef TIDE_SPOOL_PIPE_H
#define TIDE_SPOOL_PIPE_H

#include "base/base.h"

enum { TIDE_PIPE_LOOK = TIDE_ROOM(64 << 10, 1024) }; /* bytes at once */

typedef struct tide_pipe tide_pipe;

/* `name` is for messages. It and the descriptor stay the caller's. */
tide_pipe *tide_pipe_new(int descriptor, const char *name, tide_error *err);
void tide_pipe_free(tide_pipe *pipe);

/* Whether what was looked at stays where it is until it is taken. Otherwise to look is to take. */
bool tide_pipe_is_kept(const tide_pipe *pipe);

/* The next bytes, at most TIDE_PIPE_LOOK; 0 at the end; TIDE_SOURCE_LATER when none has come within
 * `wait_ms`. */
ptrdiff_t tide_pipe_peek(tide_pipe *pipe, unsigned char bytes[TIDE_PIPE_LOOK],
                         int wait_ms, tide_error *err);

/* Takes the bytes that were looked at last, or the first of them: all or none, whenever the process is
 * killed. */
int tide_pipe_consume(tide_pipe *pipe, const unsigned char *bytes, size_t size,
                      tide_error *err);

#endif
