/* routes.c - which request is answered by whom: the one table of all of them. */
#include "http.h"

#include <string.h>

const route routes[] = {
    {"GET", "/", OPEN, get_page},
    {"GET", "/v1", OPEN, get_description},
    {"GET", "/v1/", OPEN, get_description},
    {"GET", "/openapi.yaml", OPEN, get_description},
    {"GET", "/health", OPEN, get_health},
    {"GET", "/ready", OPEN, get_ready},
    {"GET", "/metrics", 0, get_metrics},
    {"GET", "/v1/stats", 0, get_stats},
    {"GET", "/v1/events", LASTS, get_events},
    {"GET", "/v1/words", 0, get_words},
    {"GET", "/v1/words/{}", 0, get_word},
    {"GET", "/v1/words/{}/neighbors", WAITS, get_neighbors},
    {"GET", "/v1/words/{}/history", 0, get_history},
    {"PUT", "/v1/words/{}/watch", 0, put_watch},
    {"DELETE", "/v1/words/{}/watch", 0, delete_watch},
    {"GET", "/v1/map", 0, get_map},
    {"GET", "/v1/similarity", 0, get_similarity},
    {"GET", "/v1/analogy", WAITS, get_analogy},
    {"POST", "/v1/analogy", WAITS, post_analogy},
    {"POST", "/v1/most_similar", WAITS, post_most_similar},
    {"POST", "/v1/embeddings", 0, post_embeddings},
    {"GET", "/v1/models", 0, get_models},
    {"POST", "/v1/ingest", INGESTS | LASTS, post_ingest},
    {"POST", "/v1/checkpoint", LASTS | BODYLESS, post_checkpoint},
    {"GET", "/v1/export", LASTS, get_export},
    {"POST", "/insert/jsonline", INGESTS | LASTS, post_jsonline},
    {"POST", "/insert/elasticsearch/_bulk", INGESTS | LASTS, post_bulk},
    {"GET", "/insert/elasticsearch*", 0, get_elastic},
    {"PUT", "/insert/elasticsearch*", 0, get_elastic},
};
const size_t route_count = sizeof routes / sizeof *routes;

/* Whether the path is of this form; *part is what {} stands for. */
static bool matches(const char *form, const char *path, const char **part, size_t *size)
{
    for (; *form && *form != '*'; form++, path++) {
        if (*form != '{') {
            if (*form != *path)
                return false;
            continue;
        }
        *size = strcspn(path, "/");
        *part = path;
        if (!*size)
            return false;
        path += *size - 1;
        form++;
    }
    return *form == '*' || !*path;
}

const route *find_route(const char *method, const char *path, const char **part,
                        size_t *part_size, char *allowed, size_t room)
{
    *allowed = 0;
    if (!strcmp(method, "HEAD"))
        method = "GET";
    for (size_t i = 0; i < route_count; i++) {
        const route *r = &routes[i];
        *part = NULL;
        if (!matches(r->path, path, part, part_size))
            continue;
        if (!strcmp(r->method, method))
            return r;
        size_t used = strlen(allowed);
        snprintf(allowed + used, room - used, "%s%s", used ? ", " : "", r->method);
    }
    return NULL;
}
