/* static_page.c - the web page and the OpenAPI description, embedded in the program.
 *
 * The page is one gzip file. For clients that do not accept gzip it is decompressed
 * once, at the first such request.
 */
#include "answer.h"
#include "handlers.h"

#include <pthread.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

/* Embeds a file between two symbols. */
#define INCLUDE_FILE(name, path)                                                       \
    __asm__(".section .rodata\n"                                                       \
            ".global " #name "\n"                                                      \
            ".global " #name "_end\n"                                                  \
            ".balign 16\n" #name ":\n"                                                 \
            ".incbin \"" path "\"\n" #name "_end:\n"                                   \
            ".byte 0\n"                                                                \
            ".previous\n");                                                            \
    extern const char name[], name##_end[]

INCLUDE_FILE(server_page, PAGE_FILE);
INCLUDE_FILE(server_description, DESCRIPTION_FILE);

static size_t size_between(const char *from, const char *to)
{
    return (size_t)((uintptr_t)to - (uintptr_t)from);
}

/* -- the uncompressed page --------------------------------------------------------- */

static struct {
    pthread_once_t once;
    char *html; /* NULL if memory ran out */
    size_t size;
} uncompressed = {.once = PTHREAD_ONCE_INIT};

/* A gzip file ends with its uncompressed size, little endian. */
static void decompress_page(void)
{
    size_t compressed = size_between(server_page, server_page_end), size = 0;
    for (size_t i = compressed; i > compressed - 4; i--)
        size = size << 8 | (unsigned char)server_page[i - 1];
    char *html = malloc(size + 1);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)server_page,
                  .avail_in = (uInt)compressed,
                  .next_out = (Bytef *)html,
                  .avail_out = (uInt)size};
    int status = html ? inflateInit2(&z, 15 + 16) : Z_MEM_ERROR;
    if (status == Z_OK) {
        status = inflate(&z, Z_FINISH);
        inflateEnd(&z);
    }
    if (status != Z_STREAM_END) {
        free(html);
        return;
    }
    uncompressed.html = html;
    uncompressed.size = size;
}

/* Whether gzip is in the list, and not with "q=0". Without Accept-Encoding it is not
 * accepted: curl does not decompress unless told to. */
static bool accepts_gzip(const char *list)
{
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t size = strcspn(list, ","), name = strcspn(list, " \t;,");
        const char *weight = memmem(list, size, "q=", 2);
        if ((name == 4 && !strncasecmp(list, "gzip", 4)) || (name == 1 && *list == '*'))
            return !weight || strtod(weight + 2, NULL) > 0;
        list += size;
    }
    return false;
}

/* -- routes ------------------------------------------------------------------------ */

static void answer_file(request *r, const char *bytes, size_t size, const char *type)
{
    r->response = MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes,
                                                  MHD_RESPMEM_PERSISTENT);
    r->status = 200;
    set_header(r, "Content-Type", type);
    set_header(r, "Cache-Control", "no-cache");
    set_header(r, "X-Content-Type-Options", "nosniff");
    set_header(r, "Referrer-Policy", "no-referrer");
    set_header(r, "X-Frame-Options", "DENY");
}

void get_description(request *r)
{
    answer_file(r, server_description,
                size_between(server_description, server_description_end),
                "text/plain; charset=utf-8");
}

void get_page(request *r)
{
    static const char type[] = "text/html; charset=utf-8";
    if (accepts_gzip(request_header(r, MHD_HTTP_HEADER_ACCEPT_ENCODING))) {
        answer_file(r, server_page, size_between(server_page, server_page_end), type);
        set_header(r, "Content-Encoding", "gzip");
    } else {
        pthread_once(&uncompressed.once, decompress_page);
        if (!uncompressed.html) {
            answer_problem(r, 503, PROBLEM_PLAIN, NULL,
                           "out of memory to decompress the page");
            return;
        }
        answer_file(r, uncompressed.html, uncompressed.size, type);
    }
    set_header(r, "Vary", "Accept-Encoding");
    set_header(r, "Cross-Origin-Opener-Policy", "same-origin");
    set_header(
        r, "Content-Security-Policy",
        "default-src 'none'; " PAGE_CSP
        "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'");
}
