/* detect_vectors.c - word vectors, as text or as floats: rows of equal length.
 *
 *     word2vec text      "N D", then lines of a word and D numbers
 *     word2vec binary    "N D", then a word, a blank and D floats of four bytes each
 *     GloVe              lines of a word and the same count of numbers in each
 */
#include "detect/detect.h"

#include <math.h>

enum {
    ROWS_MIN = 2,       /* enough as evidence, or all if there are fewer */
    GLOVE_ROWS_MIN = 3, /* without a header, more and longer rows are required */
    GLOVE_DIM_MIN = 10,
    BAD_ROW_RATIO = 20, /* one row in this many may differ: words may contain blanks */
    WORD_MAX_BYTES = 1024,
};

/* The next line of the head; false if it is not complete. */
static bool next_line(tide_head head, size_t *at, const unsigned char **line,
                      size_t *size)
{
    const unsigned char *from = head.bytes + *at, *end = head.bytes + head.size;
    const unsigned char *feed = memchr(from, '\n', (size_t)(end - from));
    if (!feed)
        return false;
    *line = from;
    *size = (size_t)(feed - from);
    *at += *size + 1;
    return true;
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Copies the next column, truncated if necessary. Returns its length, 0 at the
 * end. */
static size_t next_column(const unsigned char **at, const unsigned char *end,
                          char text[64])
{
    while (*at < end && is_blank(**at))
        ++*at;
    size_t size = 0;
    for (; *at < end && !is_blank(**at); ++*at, size++)
        if (size < 63)
            text[size] = (char)**at;
    text[size < 63 ? size : 63] = '\0';
    return size;
}

static bool is_number(const char *text)
{
    float value;
    const char *end = tide_decimal_read(text, &value);
    return end && !*end;
}

/* Counts the numbers that follow the word; 0 if the line is not a row. */
static size_t count_numbers(const unsigned char *line, size_t size)
{
    const unsigned char *end = line + size;
    char text[64];
    size_t numbers = 0;
    if (size == 0 || !next_column(&line, end, text))
        return 0;
    while (next_column(&line, end, text)) {
        if (!is_number(text))
            return 0;
        numbers++;
    }
    return numbers;
}

/* Parses the line "N D"; TIDE_MAYBE if it is incomplete. */
static tide_match read_header(tide_head head, size_t *at, uint64_t *count,
                              uint64_t *dim)
{
    uint64_t *numbers[] = {count, dim};
    *count = *dim = 0;
    for (int i = 0; i < 2; i++) {
        size_t first = *at;
        for (; *at < head.size && *at - first < 10 && head.bytes[*at] >= '0' &&
               head.bytes[*at] <= '9';
             ++*at)
            *numbers[i] = 10 * *numbers[i] + (uint64_t)(head.bytes[*at] - '0');
        if (*at == first && *at < head.size)
            return TIDE_NO;
        while (*at < head.size && is_blank(head.bytes[*at]))
            ++*at;
    }
    if (*at == head.size)
        return head.whole ? TIDE_NO : TIDE_MAYBE;
    bool good = head.bytes[(*at)++] == '\n' && *count > 0 && *dim > 0;
    return good && *dim <= TIDE_DIM_MAX ? TIDE_YES : TIDE_NO;
}

tide_match tide_is_word2vec_text(tide_head head)
{
    uint64_t count, dim;
    size_t at = 0, size, rows = 0, bad = 0;
    const unsigned char *line;
    tide_match evidence = read_header(head, &at, &count, &dim);
    if (evidence != TIDE_YES)
        return evidence;
    size_t needed = count < ROWS_MIN ? (size_t)count : ROWS_MIN;
    for (; rows < count && next_line(head, &at, &line, &size); rows++)
        bad += count_numbers(line, size) != dim;
    if (bad * BAD_ROW_RATIO > rows)
        return TIDE_NO;
    bool enough = rows >= needed || (rows > 0 && head.size == TIDE_DETECT_SIZE);
    if (dim < 2)
        return TIDE_NO; /* many files of numbers look like this */
    return enough ? TIDE_YES : head.whole ? TIDE_NO : TIDE_MAYBE;
}

tide_match tide_is_glove(tide_head head)
{
    size_t at = 0, size, rows = 0, bad = 0, dim = 0;
    const unsigned char *line = head.bytes;
    for (; next_line(head, &at, &line, &size); rows++) {
        size_t numbers = count_numbers(line, size);
        dim = rows ? dim : numbers;
        bad += numbers < GLOVE_DIM_MIN || numbers != dim || !memchr(line, '.', size);
        if (bad * BAD_ROW_RATIO > rows)
            return TIDE_NO;
    }
    if (rows >= GLOVE_ROWS_MIN)
        return TIDE_YES;
    return head.whole || rows == 0 ? TIDE_NO : TIDE_MAYBE;
}

/* Whether these bytes can be the floats of a vector. */
static bool are_floats(const unsigned char *bytes, uint64_t dim)
{
    enum { LARGEST = 10000 };
    for (uint64_t i = 0; i < dim; i++) {
        float value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (!(fabsf(value) < LARGEST))
            return false;
    }
    return tide_is_binary(bytes, dim * sizeof(float));
}

tide_match tide_is_word2vec_binary(tide_head head)
{
    uint64_t count, dim;
    size_t at = 0;
    tide_match evidence = read_header(head, &at, &count, &dim);
    if (evidence != TIDE_YES)
        return evidence;
    uint64_t needed = count < ROWS_MIN ? count : ROWS_MIN;
    for (uint64_t rows = 0; rows < needed; rows++) {
        while (at < head.size && head.bytes[at] == '\n')
            at++;
        size_t left = head.size - at;
        const unsigned char *word = head.bytes + at;
        size_t reach = left < WORD_MAX_BYTES ? left : WORD_MAX_BYTES;
        const unsigned char *blank = memchr(word, ' ', reach);
        size_t length = blank ? (size_t)(blank - word) : reach;
        if (memchr(word, '\n', length) || (!blank && left >= WORD_MAX_BYTES))
            return TIDE_NO;
        at += length + 1;
        if (!blank || head.size - at < dim * sizeof(float))
            return rows > 0 && head.size == TIDE_DETECT_SIZE ? TIDE_YES
                   : head.whole                              ? TIDE_NO
                                                             : TIDE_MAYBE;
        if (!are_floats(head.bytes + at, dim))
            return TIDE_NO;
        at += dim * sizeof(float);
    }
    return TIDE_YES;
}
