/* handlers.h - the functions that routes.c dispatches to. Private.
 *
 * A handler answers its request before it returns, or calls suspend_request() and
 * leaves the answer to another thread.
 */
#ifndef SERVER_HANDLERS_H
#define SERVER_HANDLERS_H

#include "request.h"

/* query_api.c */
void get_word(request *r);
void get_neighbors(request *r);
void get_similarity(request *r);
void get_analogy(request *r);
void post_analogy(request *r);
void post_most_similar(request *r);

/* embeddings.c */
void post_embeddings(request *r);
void get_models(request *r);

/* history_api.c */
void get_words(request *r);
void get_history(request *r);
void get_map(request *r);
void put_watch(request *r);
void delete_watch(request *r);

/* status.c and metrics.c */
void get_health(request *r);
void get_ready(request *r);
void get_stats(request *r);
void get_metrics(request *r);

void get_events(request *r);

/* ingest.c and bulk.c */
void post_ingest(request *r);
void post_jsonline(request *r);
void post_bulk(request *r);
void get_elastic(request *r);

void post_checkpoint(request *r);
void get_export(request *r);

/* static_page.c */
void get_page(request *r);
void get_description(request *r);

#endif
