/* subword.c - hashed character n-grams of a word.
 *
 * The word is enclosed in boundary marks, <word>, and every n-gram of `shortest` to
 * `longest` characters selects a row of a table of fixed size by its hash: Bojanowski
 * et al., "Enriching word vectors with subword information", TACL 5, 2017. Different
 * n-grams may share a row; the fixed size keeps memory bounded. Lengths are counted in
 * UTF-8 characters. N-grams are listed by where they start, so a long word with more
 * than TIDE_SUBWORDS_MAX of them keeps those of its beginning.
 */
#include "model/model.h"

static bool starts_character(char byte)
{
    return !tide_utf8_inside((unsigned char)byte);
}

uint32_t tide_subwords_of(const tide_subwords *subwords, const char *word,
                          uint32_t length, uint32_t ids[TIDE_SUBWORDS_MAX])
{
    char marked[TIDE_WORD_MAX + 2];
    uint32_t starts[TIDE_WORD_MAX + 3], characters = 0, count = 0;
    marked[0] = '<';
    memcpy(marked + 1, word, length);
    marked[length + 1] = '>';
    for (uint32_t i = 0; i < length + 2; i++)
        if (starts_character(marked[i]))
            starts[characters++] = i;
    starts[characters] = length + 2;

    for (uint32_t first = 0; first < characters; first++)
        for (uint32_t n = subwords->shortest;
             n <= subwords->longest && first + n <= characters; n++) {
            if (count == TIDE_SUBWORDS_MAX)
                return count;
            uint32_t from = starts[first], size = starts[first + n] - from;
            ids[count++] =
                (uint32_t)(tide_hash(marked + from, size, 0) % subwords->rows);
        }
    return count;
}
