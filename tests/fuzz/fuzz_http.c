/* fuzz_http.c - untrusted input to the server, without a socket: encoded text, Host and
 * Origin headers, compressed bodies, JSON, and text to learn in all its forms.
 *
 * The first byte selects which of these the rest is. The properties checked are those
 * that the rest of the server relies on.
 */
#include "../../server/handlers.h"
#include "../../server/inflate.h"
#include "../../server/server_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FEED_BYTES = 4096, JSON_DEPTH_MAX = 32 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* -- percent-encoding: encoding and decoding again changes nothing ----------------- */

static void try_decode(const char *text, size_t size)
{
    char *decoded = percent_decode(text, size);
    if (!decoded)
        return;
    size_t length = strlen(decoded);
    require(length <= size);
    char *encoded = malloc(3 * length + 1);
    for (size_t i = 0; i < length; i++)
        snprintf(encoded + 3 * i, 4, "%%%02x", (unsigned char)decoded[i]);
    char *again = percent_decode(encoded, 3 * length);
    require(again && !strcmp(again, decoded));
    free(again);
    free(encoded);
    free(decoded);
}

/* -- access: the host is an allowed one, and so is the origin ---------------------- */

static bool is_allowed(const char *host)
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

/* The input is Host, a line feed, Origin, a line feed, Authorization. */
static void try_auth(const char *text, size_t size)
{
    static const char *const names[] = {"known.example"};
    const auth_policy policy = {"secret-secret-secret", names, 1, "127.0.0.1"};
    char *copy = strndup(text, size), *rest = copy;
    const char *why, *host = strsep(&rest, "\n"), *origin = strsep(&rest, "\n");
    const credentials c = {.host = host,
                           .origin = origin,
                           .authorization = rest,
                           .host_count = 1,
                           .origin_count = origin != NULL};
    int status = auth_check(&policy, &c, &why);
    require(status == 0 || status == 400 || status == 401 || status == 403);
    require(!status == !why);
    if (!status) {
        require(is_allowed(host));
        require(!origin || strcasestr(origin, host));
        require(rest && !strcmp(rest + 7, policy.token));
    }
    free(copy);
}

/* -- JSON -------------------------------------------------------------------------- */

static size_t json_depth(json_t *value)
{
    size_t deepest = 0, index;
    const char *key;
    json_t *item;
    json_array_foreach(value, index, item)
    {
        size_t depth = json_depth(item);
        deepest = depth > deepest ? depth : deepest;
    }
    json_object_foreach(value, key, item)
    {
        size_t depth = json_depth(item);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + (json_is_array(value) || json_is_object(value));
}

static void try_json(const char *text, size_t size)
{
    const char *why;
    json_t *value = parse_json(text, size, JSON_REJECT_DUPLICATES, &why);
    require(value ? json_depth(value) <= JSON_DEPTH_MAX : why != NULL);
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
    static char buffer[CHUNK_BYTES];
    size_t total = 0;
    inflate_gzip(text, size, buffer, count_bytes, &total);
    require(total <= 10 * size || total <= INGEST_MAX);
}

/* -- text to learn: always an answer, and never more lines than fit ---------------- */

static server *shared_server(void)
{
    static server s;
    if (s.options.trainer)
        return &s;
    tide_params *params = tide_params_new(NULL);
    require(!tide_params_set(params, "vocab", "10", NULL));
    require(!tide_params_set(params, "dim", "2", NULL));
    require(!tide_params_set(params, "replay-ring", "2000", NULL));
    s.options.trainer = tide_trainer_new(params, NULL);
    require(s.options.trainer != NULL);
    tide_params_free(params);
    s.options.needs.queue = FEED_BYTES;
    s.line_store = line_store_open();
    require(s.line_store != NULL);
    s.status = calloc(1, sizeof *s.status);
    pthread_mutex_init(&s.status->lock, NULL);
    return &s;
}

static void try_ingest(void (*handler)(request *r), const char *text, size_t size)
{
    server *s = shared_server();
    s->options.feed = tide_feed_new(FEED_BYTES, NULL);
    request r = {.server = s, .body = malloc(size + !size), .body_size = size};
    memcpy(r.body, text,
           size); /* an allocation of its own, to detect reads past its end */
    handler(&r);
    bool rejected = r.status == 400 || r.status == 413 || r.status == 415;
    require(r.response && (rejected || r.status == 200 || r.status == 429));
    require(tide_feed_waiting(s->options.feed) <= FEED_BYTES);
    require(!rejected || !tide_feed_waiting(s->options.feed));
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
        try_auth(text, size);
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
