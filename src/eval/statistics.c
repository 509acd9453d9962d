/* statistics.c - correlations of two lists of numbers.
 *
 * Pearson's r is the cosine of the two lists minus their means. The deviations are
 * divided by the largest of them, so that squares neither overflow nor underflow, and
 * summed in a second pass, which avoids cancellation. The rounding error of the mean is
 * the mean of the deviations; it is subtracted at the end. Spearman's rho is Pearson's
 * r of the ranks, where equal numbers share their mean rank. Neither is defined if a
 * list is constant; that is detected by comparing the numbers, because rounding may
 * make the variance of a constant list nonzero.
 */
#include "eval/eval.h"

#include <math.h>
#include <stdlib.h>

static bool varies(const double *x, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (x[i] != x[0])
            return true;
    return false;
}

static double mean_of(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    return sum / (double)count;
}

static double largest_deviation(const double *x, size_t count, double mean)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(x[i] - mean));
    return largest;
}

double tide_pearson(const double *x, const double *y, size_t count)
{
    if (!varies(x, count) || !varies(y, count))
        return (double)NAN;
    double x_mean = mean_of(x, count), y_mean = mean_of(y, count);
    double x_scale = largest_deviation(x, count, x_mean);
    double y_scale = largest_deviation(y, count, y_mean);
    double sx = 0, sy = 0, xx = 0, yy = 0, xy = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        double dx = (x[i] - x_mean) / x_scale, dy = (y[i] - y_mean) / y_scale;
        sx += dx;
        sy += dy;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    xx -= sx * sx / n;
    yy -= sy * sy / n;
    xy -= sx * sy / n;
    return fmax(-1, fmin(1, xy / (sqrt(xx * yy))));
}

typedef struct indexed_value {
    double value;
    size_t index;
} indexed_value;

static int by_value(const void *a, const void *b)
{
    double x = ((const indexed_value *)a)->value, y = ((const indexed_value *)b)->value;
    return (x > y) - (x < y);
}

/* `sorted` is scratch space for `count` elements. */
static void compute_ranks(const double *x, size_t count, indexed_value *sorted,
                          double *ranks)
{
    for (size_t i = 0; i < count; i++)
        sorted[i] = (indexed_value){x[i], i};
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count; next++)
            if (sorted[next].value != sorted[first].value)
                break;
        for (size_t i = first; i < next; i++)
            ranks[sorted[i].index] = ((double)first + (double)(next - 1)) / 2;
    }
}

int tide_spearman(const double *x, const double *y, size_t count, double *rho,
                  tide_error *err)
{
    indexed_value *sorted = tide_alloc(count + 1, sizeof *sorted);
    double *x_ranks = tide_alloc(count + 1, sizeof *x_ranks);
    double *y_ranks = tide_alloc(count + 1, sizeof *y_ranks);
    int status = TIDE_OK;
    if (sorted && x_ranks && y_ranks) {
        compute_ranks(x, count, sorted, x_ranks);
        compute_ranks(y, count, sorted, y_ranks);
        *rho = tide_pearson(x_ranks, y_ranks, count);
    } else {
        status =
            tide_fail(err, TIDE_ERROR_MEMORY, "no memory to rank %zu numbers", count);
    }
    free(sorted);
    free(x_ranks);
    free(y_ranks);
    return status;
}
