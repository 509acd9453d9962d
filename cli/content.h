/* content.h - what a file is that was named on the command line. */
#ifndef CONTENT_H
#define CONTENT_H

#include <wordtide.h>

/* Looks into a regular file; anything else counts as text. `what` gets what it is otherwise. */
tide_content content_of(const char *path, tide_error *what);

#endif
