/* print_tokens.c - tokenizes standard input with kind words, for bench/segment.py.
 *
 * Prints a line per sentence, with a space after each word.
 */
#include "token/token.h"
#include "tokenizer_oracle.h"

int main(void)
{
    const tide_tokenizer_options options = {.kind = TIDE_TOKENIZER_WORDS};
    tide_tokenizer *t = tide_tokenizer_new(&options, NULL);
    char bytes[1 << 14];
    size_t size;
    transcript s = {0};
    while (t && (size = fread(bytes, 1, sizeof bytes, stdin)) > 0)
        for (size_t done = 0; done < size; transcript_take(&s, t, 64))
            done += tide_tokenizer_feed(t, bytes + done, size - done);
    if (!t)
        return EXIT_FAILURE;
    tide_tokenizer_end(t);
    transcript_take(&s, t, 64);
    fwrite(s.bytes, 1, s.size, stdout);
    free(s.bytes);
    tide_tokenizer_free(t);
    return EXIT_SUCCESS;
}
