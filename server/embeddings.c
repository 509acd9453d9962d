/* embeddings.c - vectors of texts, asked for as OpenAI's clients ask. */
#include "http.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXTS_MAX = 1000 };
#define WEIGHT 1e-3 /* of frequent words: as `wordtide embed` has it */

/* Vectors that become text while they are sent: as text they take many times their memory. */
typedef struct vectors {
    stream stream;
    server *server;
    bool packed; /* as base64 */
    uint32_t dim;
    size_t count, bytes; /* texts; memory in all */
    uint64_t words;
    size_t next;     /* text */
    size_t at;       /* number of its vector, or byte when packed */
    bool inside;     /* the vector of that text */
    float numbers[]; /* [count][dim]; the first of a text without a known word is NAN */
} vectors;

/* -- as text --------------------------------------------------------------------------------------------------- */

static size_t base64(const unsigned char *bytes, size_t size, char *to)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = to;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < size ? bytes[i + 2] : 0;
        *out++ = digits[three >> 18];
        *out++ = digits[three >> 12 & 63];
        *out++ = i + 1 < size ? digits[three >> 6 & 63] : '=';
        *out++ = i + 2 < size ? digits[three & 63] : '=';
    }
    return (size_t)(out - to);
}

static size_t write_numbers(vectors *v, const float *vector, char *to, size_t room)
{
    float x = vector[v->at++];
    v->inside = v->at < v->dim;
    const char *end = v->inside ? "," : "]}";
    return (size_t)(isfinite(x) ? snprintf(to, room, "%.9g%s", (double)x, end)
                                : snprintf(to, room, "null%s", end));
}

static size_t write_packed(vectors *v, const float *vector, char *to)
{
    enum { AT_ONCE = 144 };
    size_t left = v->dim * sizeof *vector - v->at;
    size_t size = base64((const unsigned char *)vector + v->at,
                         left < AT_ONCE ? left : AT_ONCE, to);
    v->at += AT_ONCE;
    v->inside = left > AT_ONCE;
    if (!v->inside) {
        memcpy(to + size, "\"}", 2);
        size += 2;
    }
    return size;
}

/* The next piece of the answer. */
static size_t write_vectors(void *state, char *to, size_t room)
{
    vectors *v = state;
    const float *vector = v->numbers + (v->next ? v->next - 1 : 0) * v->dim;
    if (v->inside)
        return v->packed ? write_packed(v, vector, to)
                         : write_numbers(v, vector, to, room);
    if (v->next > v->count)
        return 0;
    const char *start =
        v->next ? "," : "{\"object\":\"list\",\"model\":\"wordtide\",\"data\":[";
    if (v->next++ == v->count)
        return (size_t)snprintf(
            to, room, "],\"usage\":{\"prompt_tokens\":%llu,\"total_tokens\":%llu}}",
            (unsigned long long)v->words, (unsigned long long)v->words);
    v->at = 0;
    v->inside = !isnan(v->numbers[(v->next - 1) * v->dim]);
    return (size_t)snprintf(
        to, room, "%s{\"object\":\"embedding\",\"index\":%zu,\"embedding\":%s", start,
        v->next - 1,
        !v->inside  ? "null}"
        : v->packed ? "\""
                    : "[");
}

static void free_vectors(void *state)
{
    vectors *v = state;
    return_memory(v->server, v, v->bytes);
}

/* -- answering ------------------------------------------------------------------------------------------------- */

static vectors *vectors_new(request *r, const json_t *texts, bool packed, uint32_t dim)
{
    size_t count = json_array_size(texts);
    size_t bytes = sizeof(vectors) + count * dim * sizeof(float);
    vectors *v = take_memory(r, bytes);
    if (v)
        *v = (vectors){.stream = {.next = write_vectors, .free = free_vectors},
                       .server = r->server,
                       .packed = packed,
                       .dim = dim,
                       .count = count,
                       .bytes = bytes};
    return v;
}

static void embed(request *r, const json_t *texts, bool packed, const tide_view *space)
{
    tide_error err;
    uint32_t dim = tide_model_dim(tide_view_model(space));
    vectors *v = vectors_new(r, texts, packed, dim);
    if (!v)
        return;
    tide_embedder *embedder = tide_embedder_new(space, WEIGHT, &err);
    if (!embedder) {
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "%s", err.text);
        free_vectors(v);
        return;
    }
    for (size_t i = 0; i < v->count; i++) {
        const json_t *text = json_array_get(texts, i);
        float *vector = v->numbers + i * dim;
        tide_embedder_add(embedder, json_string_value(text), json_string_length(text));
        uint64_t known = tide_embedder_end(embedder, vector);
        if (!known)
            vector[0] = NAN;
        v->words += known;
    }
    tide_embedder_free(embedder);
    answer_stream(r, 200, "application/json; charset=utf-8", &v->stream);
}

/* A text or a list of texts, as a list; NULL when it is neither. */
static json_t *texts_of(json_t *input)
{
    if (json_is_string(input))
        return json_pack("[O]", input);
    size_t count = json_array_size(input);
    for (size_t i = 0; i < count; i++)
        if (!json_is_string(json_array_get(input, i)))
            return NULL;
    return count && count <= TEXTS_MAX ? json_incref(input) : NULL;
}

void post_embeddings(request *r)
{
    json_t *body = body_object(r);
    if (!body)
        return;
    json_t *texts = texts_of(json_object_get(body, "input"));
    const char *format = json_string_value(json_object_get(body, "encoding_format"));
    if (texts) {
        const tide_view *space = tide_live_acquire(r->server->options.live);
        embed(r, texts, format && !strcmp(format, "base64"), space);
        tide_live_release(r->server->options.live, space);
    } else {
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "input is a text or a list of 1 to %d texts", TEXTS_MAX);
    }
    json_decref(texts);
    json_decref(body);
}

void get_models(request *r)
{
    answer_json(r, 200,
                json_pack("{s:s, s:[{s:s, s:s, s:I, s:s}]}", "object", "list", "data",
                          "id", "wordtide", "object", "model", "created",
                          (json_int_t)time(NULL), "owned_by", "wordtide"));
}
