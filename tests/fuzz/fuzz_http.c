/* fuzz_http.c - what strangers send to the server, without a socket: encoded text, names of hosts and origins,
 * compressed bodies, JSON, and text to learn in all its forms.
 *
 * The first byte says which of these the rest is. What must hold is what the rest of the server relies on.
 */
#include "../../server/figures.h"
#include "../../server/ingest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FEED_ROOM = 4096, DEPTH = 32 };

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* -- encoding: what is decoded can be encoded and decoded again ------------------------------------ */

static void try_decode(const char *text, size_t size)
{
    char *decoded = decode(text, size);
    if (!decoded)
        return;
    size_t length = strlen(decoded);
    demand(length <= size);
    char *encoded = malloc(3 * length + 1);
    for (size_t i = 0; i < length; i++)
        snprintf(encoded + 3 * i, 4, "%%%02x", (unsigned char)decoded[i]);
    char *again = decode(encoded, 3 * length);
    demand(again && !strcmp(again, decoded));
    free(again);
    free(encoded);
    free(decoded);
}

/* -- the guard: who comes in has one of our names, and is our page if it is one ----------------------- */

static bool is_known(const char *host)
{
    static const char *const names[] = {
        "localhost",   "127.0.0.1",   "[::1]",         "::1",
        "[localhost]", "[127.0.0.1]", "known.example", "[known.example]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = strlen(names[i]);
        if (strncasecmp(host, names[i], size) != 0)
            continue;
        const char *rest = host + size;
        if (!*rest ||
            (*rest == ':' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")]))
            return true;
    }
    return false;
}

/* Host, a line feed, Origin, a line feed, Authorization. */
static void try_guard(const char *text, size_t size)
{
    static const char *const names[] = {"known.example"};
    const guard g = {"secret-secret-secret", names, 1, "127.0.0.1"};
    char *copy = strndup(text, size), *rest = copy;
    const char *why, *host = strsep(&rest, "\n"), *origin = strsep(&rest, "\n");
    const credentials c = {.host = host,
                           .origin = origin,
                           .authorization = rest,
                           .hosts = 1,
                           .origins = origin != NULL};
    int status = guard_refuses(&g, &c, &why);
    demand(status == 0 || status == 400 || status == 401 || status == 403);
    demand(!status == !why);
    if (!status) {
        demand(is_known(host));
        demand(!origin || strcasestr(origin, host));
        demand(rest && !strcmp(rest + 7, g.token));
    }
    free(copy);
}

/* -- JSON ------------------------------------------------------------------------------------------------ */

static size_t depth_of(json_t *value)
{
    size_t deepest = 0, index;
    const char *key;
    json_t *item;
    json_array_foreach(value, index, item)
    {
        size_t depth = depth_of(item);
        deepest = depth > deepest ? depth : deepest;
    }
    json_object_foreach(value, key, item)
    {
        size_t depth = depth_of(item);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + (json_is_array(value) || json_is_object(value));
}

static void try_json(const char *text, size_t size)
{
    const char *why;
    json_t *value = load_json(text, size, JSON_REJECT_DUPLICATES, &why);
    demand(value ? depth_of(value) <= DEPTH : why != NULL);
    json_decref(value);
}

static bool count_bytes(void *state, char *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)state += size;
    return true;
}

static void try_inflate(const char *text, size_t size)
{
    static char room[PIECE_BYTES];
    size_t total = 0;
    unpack_gzip(text, size, room, count_bytes, &total);
    demand(total <= 10 * size || total <= INGEST_MAX);
}

/* -- text to learn: an answer always, and whole lines within the room ------------------------------------- */

static server *shared_server(void)
{
    static server s;
    if (s.options.trainer)
        return &s;
    tide_params *params = tide_params_new(NULL);
    demand(!tide_params_set(params, "vocab", "10", NULL));
    demand(!tide_params_set(params, "dim", "2", NULL));
    demand(!tide_params_set(params, "replay-ring", "2000", NULL));
    s.options.trainer = tide_trainer_new(params, NULL);
    demand(s.options.trainer != NULL);
    tide_params_free(params);
    s.options.needs.queue = FEED_ROOM;
    s.lines = line_store_open();
    demand(s.lines != NULL);
    s.figures = calloc(1, sizeof *s.figures);
    pthread_mutex_init(&s.figures->lock, NULL);
    return &s;
}

static void try_ingest(void (*post)(request *r), const char *text, size_t size)
{
    server *s = shared_server();
    s->options.feed = tide_feed_new(FEED_ROOM, NULL);
    request r = {.server = s, .body = malloc(size + !size), .size = size};
    memcpy(r.body, text, size); /* its own, so that a read past its end is seen */
    post(&r);
    bool refused = r.status == 400 || r.status == 413 || r.status == 415;
    demand(r.response && (refused || r.status == 200 || r.status == 429));
    demand(tide_feed_waiting(s->options.feed) <= FEED_ROOM);
    demand(!refused || !tide_feed_waiting(s->options.feed));
    MHD_destroy_response(r.response);
    free(r.body);
    tide_feed_free(s->options.feed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const char *text = (const char *)data + 1;
    size--;
    switch (*data % 7) {
    case 0:
        try_decode(text, size);
        break;
    case 1:
        try_guard(text, size);
        break;
    case 2:
        try_json(text, size);
        break;
    case 3:
        try_inflate(text, size);
        break;
    case 4:
        try_ingest(post_ingest, text, size);
        break;
    case 5:
        try_ingest(post_jsonline, text, size);
        break;
    default:
        try_ingest(post_bulk, text, size);
    }
    return 0;
}
