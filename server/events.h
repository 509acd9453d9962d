/* events.h - server-sent events. Private. */
#ifndef SERVER_EVENTS_H
#define SERVER_EVENTS_H

#include <jansson.h>
#include <microhttpd.h>

typedef struct events events;

events *events_new(void);
void events_free(events *e);

/* Sends a message to all subscribers. Takes ownership of the object. */
void events_publish(events *e, const char *kind, json_t *data);

void events_close(events *e); /* ends all streams */

/* Returns a response that streams all further messages, and the latest one first; NULL
 * if there are too many subscribers or no memory. */
struct MHD_Response *events_subscribe(events *e, struct MHD_Connection *connection);

#endif
