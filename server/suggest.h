/* suggest.h - the answer to an unknown word. Private. */
#ifndef SERVER_SUGGEST_H
#define SERVER_SUGGEST_H

#include "request.h"

/* Answers 404 with suggestions of similar spelling, unless their time budget is
 * spent. */
void answer_unknown_word(request *r, const tide_view *view, const char *word);

#endif
