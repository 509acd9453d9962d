/* dtype.c - compact number types: half precision, and bytes with a scale per row.
 *
 *     f16   sign, 5 bits of exponent, 10 of fraction; rounded to nearest, ties to even
 *     i8    round(127 x / max|x|), with the scale max|x| / 127 for decoding
 */
#include "format/format.h"

#include <math.h>

size_t tide_dtype_size(tide_dtype dtype)
{
    static const size_t sizes[] = {
        [TIDE_F32] = 4, [TIDE_F16] = 2, [TIDE_I8] = 1, [TIDE_F64] = 8};
    return sizes[dtype];
}

uint16_t tide_half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x47800000) /* 65536 */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x33000000) /* 2^-25, half of the smallest subnormal */
        return (uint16_t)sign;
    uint32_t shift = 13,
             fraction = magnitude - 0x38000000; /* adjusts the exponent bias */
    if (magnitude < 0x38800000) {               /* 2^-14: subnormal as f16 */
        shift = 126 - (magnitude >> 23);
        fraction = (magnitude & 0x7fffff) | 0x800000;
    }
    uint32_t half = fraction >> shift, remainder = fraction & ((1u << shift) - 1);
    uint32_t halfway = 1u << (shift - 1);
    half += remainder > halfway || (remainder == halfway && (half & 1));
    return (uint16_t)(sign | half); /* a carry into the exponent is correct */
}

float tide_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f;
    uint32_t fraction = half & 0x3ff, bits;
    if (exponent == 0) {
        float value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    bits = exponent == 0x1f ? 0x7f800000 : (exponent + 112) << 23;
    bits |= sign | fraction << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void encode_bytes(const float *vector, uint32_t dim, unsigned char *bytes,
                         float *scale)
{
    float largest = 0;
    for (uint32_t d = 0; d < dim; d++)
        largest = fmaxf(largest, fabsf(vector[d]));
    for (uint32_t d = 0; d < dim; d++) {
        double quotient = largest > 0 ? (double)vector[d] / (double)largest : 0;
        bytes[d] = (unsigned char)(signed char)lrint(127 * quotient);
    }
    *scale = largest / 127;
}

void tide_encode(tide_dtype dtype, const float *vector, uint32_t dim,
                 unsigned char *bytes, float *scale)
{
    *scale = 1;
    if (dtype == TIDE_F32)
        memcpy(bytes, vector, dim * sizeof *vector);
    else if (dtype == TIDE_I8)
        encode_bytes(vector, dim, bytes, scale);
    else
        for (uint32_t d = 0; d < dim; d++) {
            uint16_t half = tide_half_from_float(vector[d]);
            memcpy(bytes + d * sizeof half, &half, sizeof half);
        }
}

static float decode_one(tide_dtype dtype, const unsigned char *bytes, float scale)
{
    uint16_t half;
    double wide;
    int8_t byte;
    switch (dtype) {
    case TIDE_F16:
        memcpy(&half, bytes, sizeof half);
        return tide_half_to_float(half);
    case TIDE_F64:
        memcpy(&wide, bytes, sizeof wide);
        return fabs(wide) < 0x1.ffffffp127 ? (float)wide : INFINITY;
    default:
        memcpy(&byte, bytes, sizeof byte);
        return scale * (float)byte;
    }
}

void tide_decode(tide_dtype dtype, const unsigned char *bytes, uint32_t dim,
                 float scale, float *vector)
{
    if (dtype == TIDE_F32) {
        memcpy(vector, bytes, dim * sizeof *vector);
        return;
    }
    for (uint32_t d = 0; d < dim; d++)
        vector[d] = decode_one(dtype, bytes + d * tide_dtype_size(dtype), scale);
}
