/* adam.c - the Adam optimizer.
 *
 * Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015, algorithm 1,
 * with the constants of the paper: moving averages of the gradient and of its square,
 * both corrected for their start at zero; the step is rate * mean / (root of the square
 * + epsilon). A weight whose gradient is always zero does not change, which is why
 * padding stays zero.
 */
#include "label/network.h"

#include <math.h>

#define BETA_MEAN 0.9
#define BETA_SQUARE 0.999
#define EPSILON 1e-8f

tide_adam tide_adam_at(float rate, uint64_t number)
{
    return (tide_adam){
        .rate = rate,
        .mean_factor = (float)(1 / (1 - pow(BETA_MEAN, (double)number))),
        .square_factor = (float)(1 / (1 - pow(BETA_SQUARE, (double)number))),
    };
}

void tide_adam_apply(const tide_adam *adam, float *restrict weights,
                     float *restrict mean, float *restrict square,
                     const float *restrict gradient, size_t count)
{
    const float decay_mean = (float)BETA_MEAN, decay_square = (float)BETA_SQUARE;
    const float weight_mean = (float)(1 - BETA_MEAN);
    const float weight_square = (float)(1 - BETA_SQUARE);
    const float rate = adam->rate * adam->mean_factor, factor = adam->square_factor;
    for (size_t i = 0; i < count; i++) {
        float g = gradient[i];
        mean[i] = decay_mean * mean[i] + weight_mean * g;
        square[i] = decay_square * square[i] + weight_square * g * g;
        weights[i] -= rate * mean[i] / (sqrtf(square[i] * factor) + EPSILON);
    }
}
