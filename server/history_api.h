/* history_api.h - queries about the past, and events that follow from it. Private. */
#ifndef SERVER_HISTORY_API_H
#define SERVER_HISTORY_API_H

#include "request.h"

#include <jansson.h>

/* Adds what the history has about a word to an answer. */
void add_word_history(server *s, const char *word, json_t *answer);

/* Answers with the neighbors of r->word as they were `age` seconds ago. */
void answer_past_neighbors(request *r, double age, uint32_t topn);

/* Updates the history, and publishes words that entered or left and alarms. Called
 * every second, by one thread. */
void history_tick(server *s, double now);

#endif
