/* headers.h - checks of a request before its body is read. Private. */
#ifndef SERVER_HEADERS_H
#define SERVER_HEADERS_H

#include "request.h"

/* Each returns false after answering with a problem. */
bool check_headers(request *r, const char *version);
bool check_parameters(request *r);
bool check_body_headers(request *r);

#endif
