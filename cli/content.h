/* content.h - detects what a file on the command line contains. */
#ifndef CONTENT_H
#define CONTENT_H

#include <wordtide.h>
#include <wordtide/tools.h>

/* Detects the content of a regular file; anything else counts as text. If it is not
 * text, `description` names it, as in "a zip archive". */
tide_content content_of(const char *path, tide_error *description);

#endif
