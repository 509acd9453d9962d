/* projection.h - the plane of the map. Private. */
#ifndef TIDE_HISTORY_PROJECTION_H
#define TIDE_HISTORY_PROJECTION_H

#include "vector/vector.h"

typedef struct tide_projection {
    uint32_t places, dim;
    double *basis;      /* [2][dim] */
    double *next;       /* [2][dim] */
    double *mean;       /* [dim] */
    double (*spots)[2]; /* [places] about -1 to 1 */
    double (*drawn)[2]; /* [places] the next ones */
    double *radii;      /* [places] to be sorted */
    bool *placed;       /* [places] has a spot */
    bool begun;
} tide_projection;

int tide_projection_init(tide_projection *p, uint32_t places, uint32_t dim,
                         tide_error *err);
void tide_projection_release(tide_projection *p);
uint64_t tide_projection_bytes(uint32_t places, uint32_t dim);

/* Gives every usable row a spot. A place whose word is another than before must have been taken from `placed`. */
void tide_projection_update(tide_projection *p, const tide_matrix *rows,
                            const bool *usable);

#endif
