/* claim.h - files that this process writes and no other. */
#ifndef CLAIM_H
#define CLAIM_H

#include <stdbool.h>

/* Sees that the file can be written and keeps others from it until the program ends. False after a
 * complaint. One file is claimed once, and not more than CLAIMS of them. */
enum { CLAIMS = 2 };
bool claim(const char *path);

/* Where the file is now that was there when the path was claimed: PATH.1. NULL when there was none, or when
 * it is not kept. */
const char *claim_kept(const char *path);

#endif
