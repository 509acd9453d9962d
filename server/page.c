/* page.c - the page, as it was built: one compressed file inside the program. */
#include "http.h"

#include <string.h>

/* Puts a file between two labels. */
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

void get_page(request *r)
{
    r->response = MHD_create_response_from_buffer(
        (size_t)((uintptr_t)server_page_end - (uintptr_t)server_page),
        (void *)(uintptr_t)server_page, MHD_RESPMEM_PERSISTENT);
    r->status = 200;
    set_header(r, "Content-Type", "text/html; charset=utf-8");
    set_header(r, "Content-Encoding", "gzip");
    set_header(r, "Cache-Control", "no-cache");
    set_header(r, "X-Content-Type-Options", "nosniff");
    set_header(r, "Referrer-Policy", "no-referrer");
    set_header(r, "X-Frame-Options", "DENY");
    set_header(r, "Cross-Origin-Opener-Policy", "same-origin");
    set_header(
        r, "Content-Security-Policy",
        "default-src 'none'; " PAGE_CSP
        "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'");
}
