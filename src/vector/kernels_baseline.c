/* kernels_baseline.c - the kernels for the baseline instruction set, SSE2 or NEON:
 * registers of 4 floats. */

#define LANES 4
#define NAME "baseline"
#define SET tide_kernels_baseline
#include "vector/kernels_tmpl.h"
