/* routes.c - the table of routes, and matching a request against it. */
#include "routes.h"

#include "handlers.h"

#include <stdio.h>
#include <string.h>

const route routes[] = {
    {"GET", "/", ROUTE_PUBLIC, get_page},
    {"GET", "/v1", ROUTE_PUBLIC, get_description},
    {"GET", "/v1/", ROUTE_PUBLIC, get_description},
    {"GET", "/openapi.yaml", ROUTE_PUBLIC, get_description},
    {"GET", "/health", ROUTE_PUBLIC, get_health},
    {"GET", "/ready", ROUTE_PUBLIC, get_ready},
    {"GET", "/metrics", 0, get_metrics},
    {"GET", "/v1/stats", 0, get_stats},
    {"GET", "/v1/events", ROUTE_LONG, get_events},
    {"GET", "/v1/words", 0, get_words},
    {"GET", "/v1/words/{}", 0, get_word},
    {"GET", "/v1/words/{}/neighbors", ROUTE_DEFERRED, get_neighbors},
    {"GET", "/v1/words/{}/history", 0, get_history},
    {"PUT", "/v1/words/{}/watch", 0, put_watch},
    {"DELETE", "/v1/words/{}/watch", 0, delete_watch},
    {"GET", "/v1/map", 0, get_map},
    {"GET", "/v1/similarity", 0, get_similarity},
    {"GET", "/v1/analogy", ROUTE_DEFERRED, get_analogy},
    {"POST", "/v1/analogy", ROUTE_DEFERRED, post_analogy},
    {"POST", "/v1/most_similar", ROUTE_DEFERRED, post_most_similar},
    {"POST", "/v1/embeddings", 0, post_embeddings},
    {"GET", "/v1/models", 0, get_models},
    {"POST", "/v1/ingest", ROUTE_INGEST | ROUTE_LONG, post_ingest},
    {"POST", "/v1/checkpoint", ROUTE_LONG | ROUTE_NO_BODY, post_checkpoint},
    {"GET", "/v1/export", ROUTE_LONG, get_export},
    {"POST", "/insert/jsonline", ROUTE_INGEST | ROUTE_LONG, post_jsonline},
    {"POST", "/insert/elasticsearch/_bulk", ROUTE_INGEST | ROUTE_LONG, post_bulk},
    {"GET", "/insert/elasticsearch*", 0, get_elastic},
    {"PUT", "/insert/elasticsearch*", 0, get_elastic},
};
const size_t route_count = sizeof routes / sizeof *routes;

/* Whether the path matches the pattern; sets *segment to what {} matches. */
static bool path_matches(const char *pattern, const char *path, const char **segment,
                         size_t *segment_size)
{
    for (; *pattern && *pattern != '*'; pattern++, path++) {
        if (*pattern != '{') {
            if (*pattern != *path)
                return false;
            continue;
        }
        *segment_size = strcspn(path, "/");
        *segment = path;
        if (!*segment_size)
            return false;
        path += *segment_size - 1;
        pattern++;
    }
    return *pattern == '*' || !*path;
}

const route *route_find(const char *method, const char *path, const char **segment,
                        size_t *segment_size, char *allowed, size_t allowed_size)
{
    *allowed = 0;
    if (!strcmp(method, "HEAD"))
        method = "GET";
    for (size_t i = 0; i < route_count; i++) {
        const route *r = &routes[i];
        *segment = NULL;
        if (!path_matches(r->path, path, segment, segment_size))
            continue;
        if (!strcmp(r->method, method))
            return r;
        size_t used = strlen(allowed);
        snprintf(allowed + used, allowed_size - used, "%s%s", used ? ", " : "",
                 r->method);
    }
    return NULL;
}
