/* detect_vectors.c - word vectors, as text or as floats: rows whose lengths agree.
 *
 *     word2vec text      "N D", then lines of a word and D numbers
 *     word2vec binary    "N D", then a word, a blank and D floats of four bytes
 *     GloVe              lines of a word and as many numbers in each
 */
#include "detect/detect.h"

#include <math.h>

enum {
    ROWS = 2,       /* that prove it, or all if there are fewer */
    GLOVE_ROWS = 3, /* without a first line, more and longer ones */
    ODD_ROWS = 20,  /* one in so many may be another, for words with blanks in them */
    GLOVE_DIM = 10,
    WORD_MAX_BYTES = 1024,
};

/* A line of the head; false when it is not complete. */
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

/* The next column, copied so that it ends with a 0; its length, 0 at the end. */
static size_t column(const unsigned char **at, const unsigned char *end, char text[64])
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

/* How many numbers follow the word; 0 when it is no row. */
static size_t row_numbers(const unsigned char *line, size_t size)
{
    const unsigned char *end = line + size;
    char text[64];
    size_t numbers = 0;
    if (size == 0 || !column(&line, end, text))
        return 0;
    while (column(&line, end, text)) {
        if (!is_number(text))
            return 0;
        numbers++;
    }
    return numbers;
}

/* Reads the line "N D"; MAYBE when it may become one. */
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
    size_t at = 0, size, rows = 0, odd = 0;
    const unsigned char *line;
    tide_match evidence = read_header(head, &at, &count, &dim);
    if (evidence != TIDE_YES)
        return evidence;
    size_t wanted = count < ROWS ? (size_t)count : ROWS;
    for (; rows < count && next_line(head, &at, &line, &size); rows++)
        odd += row_numbers(line, size) != dim;
    if (odd * ODD_ROWS > rows)
        return TIDE_NO;
    bool enough = rows >= wanted || (rows > 0 && head.size == TIDE_DETECT_SIZE);
    if (dim < 2)
        return TIDE_NO; /* so are many files of numbers */
    return enough ? TIDE_YES : head.whole ? TIDE_NO : TIDE_MAYBE;
}

tide_match tide_is_glove(tide_head head)
{
    size_t at = 0, size, rows = 0, odd = 0, dim = 0;
    const unsigned char *line = head.bytes;
    for (; next_line(head, &at, &line, &size); rows++) {
        size_t numbers = row_numbers(line, size);
        dim = rows ? dim : numbers;
        odd += numbers < GLOVE_DIM || numbers != dim || !memchr(line, '.', size);
        if (odd * ODD_ROWS > rows)
            return TIDE_NO;
    }
    if (rows >= GLOVE_ROWS)
        return TIDE_YES;
    return head.whole || rows == 0 ? TIDE_NO : TIDE_MAYBE;
}

/* Whether so many floats are there and are those of vectors. */
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
    uint64_t wanted = count < ROWS ? count : ROWS;
    for (uint64_t rows = 0; rows < wanted; rows++) {
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
