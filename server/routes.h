/* routes.h - the table of routes. Private. */
#ifndef SERVER_ROUTES_H
#define SERVER_ROUTES_H

#include <stddef.h>

typedef struct request request;

/* Properties of a route; bits. */
enum {
    ROUTE_PUBLIC = 1,   /* needs no token */
    ROUTE_INGEST = 2,   /* accepts text of any content type; runs on a worker thread */
    ROUTE_DEFERRED = 4, /* may be answered later, by another thread */
    ROUTE_LONG =
        8, /* the same, for an unpredictable time: it depends on the text or the
                     * disk, or the response has no end */
    ROUTE_NO_BODY = 16, /* a POST that may lack a body */
};

typedef struct route {
    const char *method;
    const char *path; /* {} matches one path segment; a final * matches the rest */
    int flags;
    void (*handler)(request *r);
} route;

extern const route routes[];
extern const size_t route_count;

/* Finds the route of a method and a path. Sets *segment and *segment_size to the part
 * of the path that {} matches, still percent-encoded, or *segment to NULL. Returns NULL
 * if there is no such route; `allowed`, of allowed_size bytes, then lists the methods
 * that the path supports, or is "" if there is no such path. */
const route *route_find(const char *method, const char *path, const char **segment,
                        size_t *segment_size, char *allowed, size_t allowed_size);

#endif
