/* request.c - reading the parts of a request, and suspending it. */
#include "request.h"

#include "answer.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* -- parts of a request ------------------------------------------------------------ */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

char *percent_decode(const char *text, size_t size)
{
    char *decoded = malloc(size + 1);
    size_t used = 0;
    for (size_t i = 0; decoded && i < size; i++) {
        int byte = (unsigned char)text[i];
        if (byte == '%') {
            /* A malformed escape is refused like %00: a zero would end the word. */
            int high = size - i > 2 ? hex_digit(text[i + 1]) : -1;
            int low = size - i > 2 ? hex_digit(text[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : high * 16 + low;
            i += 2;
        }
        if (!byte) {
            free(decoded);
            return NULL;
        }
        decoded[used++] = (char)byte;
    }
    if (decoded)
        decoded[used] = 0;
    return decoded;
}

const char *request_header(const request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

char *request_parameter(const request *r, const char *name)
{
    const char *value =
        MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
    return value ? percent_decode(value, strlen(value)) : NULL;
}

bool request_integer(request *r, const char *name, uint32_t min, uint32_t max,
                     uint32_t *value)
{
    char *text = request_parameter(r, name), *end;
    if (!text)
        return true;
    /* strtoul would also take blanks and a sign, and so a negative number. One that is
     * too large for it becomes ULONG_MAX, which is above every limit. */
    unsigned long number = strtoul(text, &end, 10);
    bool valid =
        *text >= '0' && *text <= '9' && !*end && number >= min && number <= max;
    if (valid)
        *value = (uint32_t)number;
    else
        answer_problem(r, 400, PROBLEM_PLAIN, NULL,
                       "%s must be an integer from %u to %u", name, min, max);
    free(text);
    return valid;
}

/* -- queues ------------------------------------------------------------------------ */

void request_queue_init(request_queue *q)
{
    *q = (request_queue){.last = &q->first};
}

void request_queue_push(request_queue *q, request *r)
{
    r->next = NULL;
    *q->last = r;
    q->last = &r->next;
    q->count++;
}

size_t request_queue_pop(request_queue *q, request **requests, size_t max)
{
    size_t count = 0;
    for (; q->first && count < max; q->first = q->first->next)
        requests[count++] = q->first;
    if (!q->first)
        q->last = &q->first;
    q->count -= count;
    return count;
}

/* -- suspending -------------------------------------------------------------------- */

void suspend_request(request *r)
{
    r->suspended = true;
    MHD_suspend_connection(r->connection);
}

void resume_request(request *r)
{
    MHD_resume_connection(r->connection);
}

/* The library does not poll suspended connections. */
bool client_disconnected(const request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd socket = {.fd = info ? info->connect_fd : -1, .events = POLLRDHUP};
    return poll(&socket, 1, 0) > 0;
}
