/* body.h - request bodies, within a bound on the memory of all of them. Private. */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "request.h"

#include <jansson.h>
#include <pthread.h>

/* The memory of request bodies and of the responses that are generated from them. */
typedef struct body_pool {
    pthread_mutex_t lock;
    uint64_t bytes_used;
    request *receiving; /* requests whose bodies are being received */
} body_pool;

/* Appends to the body, or answers with a problem and discards it. */
void body_append(request *r, const char *bytes, size_t size);

/* Marks the body as complete. Returns false if the request was answered with a
 * problem. */
bool body_finish(request *r);

void body_discard(request *r);

/* Memory that lives until a response is sent, within the bound of the pool. Returns
 * NULL after answering with a problem. */
void *response_memory_alloc(request *r, size_t size);
void response_memory_free(server *s, void *memory, size_t size);

/* Parses JSON; `flags` are jansson's. On failure returns NULL with *why, which is valid
 * until the thread's next call: it is not JSON, nested too deeply or has too many
 * values. *why is NULL when memory ran out. */
json_t *parse_json(const char *json, size_t size, size_t flags, const char **why);

/* Parses the body as a JSON object. Returns NULL after answering with a problem. */
json_t *parse_body_object(request *r);

#endif
