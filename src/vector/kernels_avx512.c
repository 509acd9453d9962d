/* kernels_avx512.c - the kernels compiled for AVX-512: registers of 16 floats. */

#define LANES 16
#define NAME "avx512"
#define SET tide_kernels_avx512
#include "vector/kernels_tmpl.h"
