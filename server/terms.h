/* terms.h - words and texts in requests, in the words of the model. Private. */
#ifndef SERVER_TERMS_H
#define SERVER_TERMS_H

#include "request.h"

#include <jansson.h>

/* Resolves a text to words of the model. Returns false if none of them is known. */
bool resolve_text(server *s, const tide_view *view, const char *text, tide_term *term);

/* Adds to the "terms" member of an answer how a text was read, unless it is a word of
 * the model. */
void add_term(json_t *answer, const tide_view *view, const char *text,
              const tide_term *term);

/* Resolves r->word, and adds it to "terms". Returns false after answering with a
 * problem. */
bool resolve_word(request *r, tide_term *term, json_t *answer);

/* Resolves the texts of a list to terms, which it allocates, and adds them to "terms".
 * Returns false after answering with a problem; *count terms are then set. */
bool resolve_texts(request *r, const char *const *texts, size_t text_count,
                   char **terms, size_t *count, json_t *answer);

/* Replaces r->word by the token that it is read as, known or not. Returns false if it
 * is not exactly one token. */
bool normalize_word(request *r);

#endif
