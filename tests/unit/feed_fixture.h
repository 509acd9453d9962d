/* feed_fixture.h - threads that push numbered lines into a feed. */
#ifndef TIDE_FEED_FIXTURE_H
#define TIDE_FEED_FIXTURE_H

#include "source/source.h"

#include <stdio.h>

typedef struct pusher {
    tide_feed *feed;
    int number, lines;
} pusher;

/* Pushes each line until it is accepted. */
static inline void *push(void *argument)
{
    const pusher *p = argument;
    for (int line = 0; line < p->lines;) {
        char text[64];
        int size = snprintf(text, sizeof text, "p%dl%d says every\n", p->number, line);
        line += tide_feed_push(p->feed, text, (size_t)size, NULL) > 0;
    }
    return NULL;
}

#endif
