/* answer.c - responses: JSON, text, streams and problem details (RFC 9457). */
#include "answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM_BLOCK_BYTES = 16 << 10 };

void answer_with(request *r, int status, struct MHD_Response *response)
{
    if (r->response)
        MHD_destroy_response(r->response);
    r->response = response;
    r->status = status;
    set_header(r, "Cache-Control", "no-store");
    set_header(r, "X-Content-Type-Options", "nosniff");
    set_header(r, "Referrer-Policy", "no-referrer");
    set_header(r, "Cross-Origin-Resource-Policy", "same-origin");
}

void set_header(request *r, const char *name, const char *value)
{
    if (r->response)
        MHD_add_response_header(r->response, name, value);
}

void answer_text(request *r, int status, const char *type, char *text, size_t size)
{
    static char empty[] = "";
    if (!text) {
        answer_with(r, 503,
                    MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT));
        set_header(r, "Retry-After", "1");
        return;
    }
    answer_with(r, status,
                MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE));
    set_header(r, "Content-Type", type);
}

/* Fills the buffer with as many chunks of the stream as fit. */
static ptrdiff_t read_stream(void *data, uint64_t position, char *bytes,
                             size_t capacity)
{
    (void)position;
    stream *s = data;
    size_t done = 0;
    while (done < capacity) {
        if (s->offset == s->size) {
            s->offset = 0;
            s->size = s->next(s, s->chunk, sizeof s->chunk);
            if (!s->size)
                break;
        }
        size_t left = s->size - s->offset,
               size = left < capacity - done ? left : capacity - done;
        memcpy(bytes + done, s->chunk + s->offset, size);
        s->offset += size;
        done += size;
    }
    return done ? (ptrdiff_t)done : MHD_CONTENT_READER_END_OF_STREAM;
}

void answer_stream(request *r, int status, const char *type, stream *s)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream, s, s->free);
    if (response)
        answer_with(r, status, response);
    else
        s->free(s);
    set_header(r, "Content-Type", type);
}

static void answer_object(request *r, int status, const char *type, json_t *object)
{
    char *text =
        object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(object);
    answer_text(r, status, type, text, text ? strlen(text) : 0);
}

void answer_json(request *r, int status, json_t *object)
{
    answer_object(r, status, "application/json; charset=utf-8", object);
}

void answer_no_content(request *r)
{
    static char empty[] = "";
    answer_with(r, 204,
                MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT));
}

static const char *status_title(int status)
{
    switch (status) {
    case 400:
        return "Bad request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not found";
    case 405:
        return "Method not allowed";
    case 409:
        return "Conflict";
    case 413:
        return "Content too large";
    case 414:
        return "URI too long";
    case 415:
        return "Unsupported media type";
    case 429:
        return "Too many requests";
    case 431:
        return "Request header fields too large";
    case 500:
        return "Internal server error";
    case 504:
        return "Gateway timeout";
    default:
        return "Service unavailable";
    }
}

void answer_problem(request *r, int status, problem_type type, json_t *members,
                    const char *format, ...)
{
    static const char *const types[] = {
        [PROBLEM_PLAIN] = "about:blank",
        [PROBLEM_UNKNOWN_WORD] = "/problems/unknown-word",
        [PROBLEM_BUSY] = "/problems/busy",
        [PROBLEM_NO_HISTORY] = "/problems/no-past",
    };
    char detail[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    json_t *problem =
        json_pack("{s:s, s:s, s:i, s:o}", "type", types[type], "title",
                  status_title(status), "status", status, "detail", json_word(detail));
    if (members)
        json_object_update(problem, members);
    json_decref(members);
    answer_object(r, status, "application/problem+json", problem);
    if (status == 429 || status == 503)
        set_header(r, "Retry-After", "1");
    if (status == 401)
        set_header(r, "WWW-Authenticate", "Bearer");
}

json_t *json_word(const char *word)
{
    size_t size = strlen(word), min = size > 3 ? size - 3 : 0;
    json_t *text = json_stringn(word, size);
    while (!text && size-- > min) /* it may have been cut within a character */
        text = json_stringn(word, size);
    return text ? text : json_string("\xef\xbf\xbd");
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *json_vector(const float *vector, uint32_t dim)
{
    json_t *list = json_array();
    for (uint32_t d = 0; d < dim; d++)
        json_array_append_new(list, json_number((double)vector[d]));
    return list;
}
