/* embeddings.c - vectors of texts, with the API of OpenAI's embeddings. */
#include "answer.h"
#include "body.h"
#include "handlers.h"
#include "server_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXTS_MAX = 1000 };
#define FREQUENCY_WEIGHT 1e-3 /* of words in the mean, as in `wordtide embed` */

/* A response that is formatted while it is sent: as text, vectors take several times as
 * much memory. */
typedef struct vectors {
    stream stream;
    server *server;
    bool base64;
    uint32_t dim;
    size_t count; /* texts */
    size_t bytes; /* of this struct */
    uint64_t words;
    size_t next;    /* text to format */
    size_t offset;  /* in the vector of the text before: values, or bytes if base64 */
    bool in_vector; /* that vector is not complete */
    float values[]; /* [count][dim]; a text without a known word has a NaN first */
} vectors;

/* -- formatting -------------------------------------------------------------------- */

static size_t encode_base64(const unsigned char *bytes, size_t size, char *text)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = text;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < size ? bytes[i + 2] : 0;
        *out++ = digits[three >> 18];
        *out++ = digits[three >> 12 & 63];
        *out++ = i + 1 < size ? digits[three >> 6 & 63] : '=';
        *out++ = i + 2 < size ? digits[three & 63] : '=';
    }
    return (size_t)(out - text);
}

static size_t write_numbers(vectors *v, const float *vector, char *out, size_t capacity)
{
    float x = vector[v->offset++];
    v->in_vector = v->offset < v->dim;
    const char *end = v->in_vector ? "," : "]}";
    return (size_t)(isfinite(x) ? snprintf(out, capacity, "%.9g%s", (double)x, end)
                                : snprintf(out, capacity, "null%s", end));
}

static size_t write_base64(vectors *v, const float *vector, char *out)
{
    enum { BYTES_PER_CHUNK = 144 };
    size_t left = v->dim * sizeof *vector - v->offset;
    size_t size = encode_base64((const unsigned char *)vector + v->offset,
                                left < BYTES_PER_CHUNK ? left : BYTES_PER_CHUNK, out);
    /* A multiple of 3, so that chunks join without padding between them. */
    v->offset += BYTES_PER_CHUNK;
    v->in_vector = left > BYTES_PER_CHUNK;
    if (!v->in_vector) {
        memcpy(out + size, "\"}", 2);
        size += 2;
    }
    return size;
}

/* Writes the next chunk of the response: its beginning, the beginning of an embedding,
 * a part of its vector, or the end. */
static size_t write_vectors(void *state, char *out, size_t capacity)
{
    vectors *v = state;
    const float *vector = v->values + (v->next ? v->next - 1 : 0) * v->dim;
    if (v->in_vector)
        return v->base64 ? write_base64(v, vector, out)
                         : write_numbers(v, vector, out, capacity);
    if (v->next > v->count)
        return 0;
    const char *start =
        v->next ? "," : "{\"object\":\"list\",\"model\":\"wordtide\",\"data\":[";
    if (v->next++ == v->count)
        return (size_t)snprintf(
            out, capacity,
            "],\"usage\":{\"prompt_tokens\":%llu,\"total_tokens\":%llu}}",
            (unsigned long long)v->words, (unsigned long long)v->words);
    v->offset = 0;
    /* A text without known words has a vector of NaN, which becomes null. */
    v->in_vector = !isnan(v->values[(v->next - 1) * v->dim]);
    return (size_t)snprintf(
        out, capacity, "%s{\"object\":\"embedding\",\"index\":%zu,\"embedding\":%s",
        start, v->next - 1,
        !v->in_vector ? "null}"
        : v->base64   ? "\""
                      : "[");
}

static void free_vectors(void *state)
{
    vectors *v = state;
    response_memory_free(v->server, v, v->bytes);
}

/* -- answering --------------------------------------------------------------------- */

static vectors *vectors_new(request *r, const json_t *texts, bool base64, uint32_t dim)
{
    size_t count = json_array_size(texts);
    size_t bytes = sizeof(vectors) + count * dim * sizeof(float);
    vectors *v = response_memory_alloc(r, bytes);
    if (v)
        *v = (vectors){.stream = {.next = write_vectors, .free = free_vectors},
                       .server = r->server,
                       .base64 = base64,
                       .dim = dim,
                       .count = count,
                       .bytes = bytes};
    return v;
}

static void embed(request *r, const json_t *texts, bool base64, const tide_view *view)
{
    tide_error err;
    uint32_t dim = tide_model_dim(tide_view_model(view));
    vectors *v = vectors_new(r, texts, base64, dim);
    if (!v)
        return;
    tide_embedder *embedder = tide_embedder_new(view, FREQUENCY_WEIGHT, &err);
    if (!embedder) {
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "%s", err.text);
        free_vectors(v);
        return;
    }
    for (size_t i = 0; i < v->count; i++) {
        const json_t *text = json_array_get(texts, i);
        float *vector = v->values + i * dim;
        tide_embedder_add(embedder, json_string_value(text), json_string_length(text));
        uint64_t known = tide_embedder_end(embedder, vector);
        if (!known)
            vector[0] = NAN;
        v->words += known;
    }
    tide_embedder_free(embedder);
    answer_stream(r, 200, "application/json; charset=utf-8", &v->stream);
}

/* Returns the input, a text or a list of texts, as a list; NULL if it is neither. */
static json_t *list_texts(json_t *input)
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
    json_t *body = parse_body_object(r);
    if (!body)
        return;
    json_t *texts = list_texts(json_object_get(body, "input"));
    const char *format = json_string_value(json_object_get(body, "encoding_format"));
    if (texts) {
        const tide_view *view = tide_live_acquire(r->server->options.live);
        embed(r, texts, format && !strcmp(format, "base64"), view);
        tide_live_release(r->server->options.live, view);
    } else {
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "input must be a text or a list of 1 to %d texts", TEXTS_MAX);
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
