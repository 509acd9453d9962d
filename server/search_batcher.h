/* search_batcher.h - nearest-neighbor searches, several per scan. Private. */
#ifndef SERVER_SEARCH_BATCHER_H
#define SERVER_SEARCH_BATCHER_H

#include "request.h"

#include <jansson.h>

/* A search, and the response to make of its hits: an object with the members of
 * `members` and the hits as member `result_name`. */
struct search_request {
    char *positive[QUERY_WORDS_MAX]; /* terms (terms.h); owned */
    char *negative[QUERY_WORDS_MAX];
    size_t positive_count, negative_count;
    uint32_t topn;
    const char *result_name; /* static */
    json_t *members;         /* owned */
};

/* Returns NULL without memory. */
search_request *search_request_new(uint32_t topn, const char *result_name);
void search_request_free(search_request *search);

typedef struct search_batcher search_batcher;

search_batcher *search_batcher_open(tide_live *live);
void search_batcher_close(search_batcher *b); /* answers what waits; refuses the rest */
void search_batcher_free(search_batcher *b);

/* Suspends the request until r->search is done. */
void search_batcher_submit(search_batcher *b, request *r);

#endif
