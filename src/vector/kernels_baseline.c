/* kernels_baseline.c - the kernels for what every processor of the family has: SSE2 or NEON. */

#define LANES 4
#define NAME "baseline"
#define SET tide_kernels_baseline
#include "vector/kernels_tmpl.h"
