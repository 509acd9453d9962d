/* kernels_avx2.c - the kernels compiled for AVX2: registers of 8 floats. */

#define LANES 8
#define NAME "avx2"
#define SET tide_kernels_avx2
#include "vector/kernels_tmpl.h"
