/* spooled.h - what the sources over a spool share: where they begin, their places, and what of their text
 * is safe. Private. */
#ifndef TIDE_SPOOLED_H
#define TIDE_SPOOLED_H

#include "text/spool.h"
#include "text/text.h"

typedef struct tide_spooled {
    tide_spool *spool;
    char *path;
    uint64_t limit; /* bytes on the disk */
    bool placed;    /* it is known where to begin */
    uint64_t given,
        saved; /* offsets behind the text that was given out, that is safe */
    tide_error news;
    bool is_news;
} tide_spooled;

typedef struct tide_spooled_options {
    const char *path;
    uint64_t limit; /* bytes, 1 MiB or more; 0 for 1 GiB */
    tide_spool_sync sync;
    bool untaken_is_void; /* pieces behind the last mark are forgotten */
} tide_spooled_options;

/* To be closed also after a failure. */
int tide_spooled_open(tide_spooled *s, const tide_spooled_options *options,
                      tide_error *err);
void tide_spooled_close(tide_spooled *s);

/* Before the first read, and after tide_spooled_go_to if there is a place to go to. */
int tide_spooled_begin(tide_spooled *s, bool from_start, tide_error *err);

/* 0 when all was given out. */
ptrdiff_t tide_spooled_read(tide_spooled *s, void *bytes, size_t room, tide_error *err);

/* No more will come: TIDE_SOURCE_SAVE until all is safe, then 0. */
int tide_spooled_end(tide_spooled *s, tide_error *err);

/* As the functions of the same names in source.h. */
char *tide_spooled_place(const tide_spooled *s, uint64_t offset, tide_error *err);
int tide_spooled_go_to(tide_spooled *s, const char *place, tide_error *err);
int tide_spooled_saved(tide_spooled *s, const char *place, tide_error *err);
const char *tide_spooled_news(tide_spooled *s);

/* News that the source will tell; the caller of the source names it. */
#define TIDE_SPOOLED_TELL(s, ...)                                                      \
    ((s)->is_news = true, (void)tide_fail(&(s)->news, TIDE_OK, __VA_ARGS__))

#endif
