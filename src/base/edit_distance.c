/* edit_distance.c - the Damerau-Levenshtein distance of two short texts, by bytes.
 *
 * The table's row i has the distances of the first i bytes of `a` to all beginnings of
 * `b`. Only a band is computed, since a cell farther than `max` from the diagonal
 * exceeds `max`, and three rows are kept, for swaps look back two.
 */
#include "base/base.h"

int tide_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                       int max)
{
    int n = (int)a_length, m = (int)b_length, far = max + 1;
    if (a_length > TIDE_WORD_MAX || b_length > TIDE_WORD_MAX || n - m > max ||
        m - n > max)
        return far;
    int rows[3][TIDE_WORD_MAX + 2] = {{0}};
    int *before_previous = rows[0], *previous = rows[1], *current = rows[2];
    for (int j = 0; j <= m; j++)
        previous[j] = j;
    for (int i = 1; i <= n; i++) {
        int first = i > max ? i - max : 1, end = i + max < m ? i + max : m;
        int row_min = current[first - 1] = i;
        for (int j = first; j <= end; j++) {
            int best = previous[j - 1] + (a[i - 1] != b[j - 1]);
            best = previous[j] + 1 < best ? previous[j] + 1 : best;
            best = current[j - 1] + 1 < best ? current[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before_previous[j - 2] + 1 < best)
                best = before_previous[j - 2] + 1;
            current[j] = best;
            row_min = best < row_min ? best : row_min;
        }
        current[end + 1] = far;
        if (row_min > max)
            return far;
        int *oldest = before_previous;
        before_previous = previous;
        previous = current;
        current = oldest;
    }
    return previous[m] < far ? previous[m] : far;
}
