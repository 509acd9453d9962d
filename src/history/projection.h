/* projection.h - the plane of the map. Private. */
#ifndef TIDE_HISTORY_PROJECTION_H
#define TIDE_HISTORY_PROJECTION_H

#include "vector/vector.h"

typedef struct tide_projection {
    uint32_t rows, dim;
    double *basis;            /* [2][dim] */
    double *next;             /* [2][dim] */
    double *mean;             /* [dim] */
    double (*points)[2];      /* [rows] mostly within radius 1 */
    double (*next_points)[2]; /* [rows] */
    double *radii;            /* [rows] for sorting */
    bool *has_point;          /* [rows] */
    bool has_basis;
} tide_projection;

int tide_projection_init(tide_projection *p, uint32_t rows, uint32_t dim,
                         tide_error *err);
void tide_projection_release(tide_projection *p);
uint64_t tide_projection_bytes(uint32_t rows, uint32_t dim);

/* Gives every row with a vector a point. The caller must clear has_point[row] before
 * the row belongs to another word. */
void tide_projection_update(tide_projection *p, const tide_matrix *rows,
                            const bool *has_vector);

#endif
