/* embeddings.c - vectors of texts, asked for as OpenAI's clients ask. */
#include "http.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXTS_MAX = 1000 };
#define WEIGHT 1e-3 /* of frequent words: as `wordtide embed` has it */

static char *base64(const unsigned char *bytes, size_t size)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc((size + 2) / 3 * 4 + 1), *out = text;
    for (size_t i = 0; text && i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < size ? bytes[i + 2] : 0;
        *out++ = digits[three >> 18];
        *out++ = digits[three >> 12 & 63];
        *out++ = i + 1 < size ? digits[three >> 6 & 63] : '=';
        *out++ = i + 2 < size ? digits[three & 63] : '=';
    }
    if (text)
        *out = 0;
    return text;
}

static json_t *as_base64(const float *vector, uint32_t dim)
{
    char *text = base64((const unsigned char *)vector, dim * sizeof *vector);
    json_t *json = text ? json_string(text) : json_null();
    free(text);
    return json;
}

static void embed(request *r, const json_t *texts, bool packed, const tide_space *space)
{
    tide_error err;
    float vector[TIDE_DIM_MAX];
    uint32_t dim = tide_model_dim(tide_space_model(space));
    uint64_t words = 0;
    tide_embedder *embedder = tide_embedder_new(space, WEIGHT, &err);
    if (!embedder) {
        answer_problem(r, 503, PROBLEM_PLAIN, NULL, "%s", err.text);
        return;
    }
    json_t *data = json_array();
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        tide_embedder_add(embedder, json_string_value(text), json_string_length(text));
        uint64_t known = tide_embedder_end(embedder, vector);
        json_t *json = !known   ? json_null()
                       : packed ? as_base64(vector, dim)
                                : json_vector(vector, dim);
        words += known;
        json_array_append_new(data,
                              json_pack("{s:s, s:I, s:o}", "object", "embedding",
                                        "index", (json_int_t)i, "embedding", json));
    }
    tide_embedder_free(embedder);
    answer_json(r, 200,
                json_pack("{s:s, s:s, s:o, s:{s:I, s:I}}", "object", "list", "model",
                          "wordtide", "data", data, "usage", "prompt_tokens",
                          (json_int_t)words, "total_tokens", (json_int_t)words));
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
        const tide_space *space = tide_live_begin(r->server->options.live);
        embed(r, texts, format && !strcmp(format, "base64"), space);
        tide_live_end(r->server->options.live, space);
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
