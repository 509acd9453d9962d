/* workers.h - threads for the handlers of ROUTE_INGEST. Private. */
#ifndef SERVER_WORKERS_H
#define SERVER_WORKERS_H

#include "request.h"

typedef struct workers workers;

workers *workers_open(server *s);
void workers_close(workers *w); /* handles what is queued; refuses the rest */
void workers_free(workers *w);

/* Queues the request; a worker calls the handler of its route. */
void workers_submit(workers *w, request *r);

#endif
