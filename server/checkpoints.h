/* checkpoints.h - requests that wait for a checkpoint. Private. */
#ifndef SERVER_CHECKPOINTS_H
#define SERVER_CHECKPOINTS_H

#include "server.h"

/* Answers requests that have waited too long or whose client is gone. Called every
 * second. */
void checkpoints_expire(server *s);

void checkpoints_close(server *s); /* answers those that still wait */

#endif
