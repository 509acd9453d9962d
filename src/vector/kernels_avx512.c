/* kernels_avx512.c - the kernels with registers of 16 floats. */

#define LANES 16
#define NAME "avx512"
#define SET tide_kernels_avx512
#include "vector/kernels_tmpl.h"
