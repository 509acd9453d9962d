/* resolve.c - resolves user input to words of a model.
 *
 * Tries in this order: a word of the model exactly as written; the words of the input
 * joined by "_", as written and then as tokenized, for phrases that were joined before
 * or during training; and the tokenized words, as far as they have vectors. The
 * tokenizer of a vector file is unknown, so its words are looked up as written between
 * blanks before the default tokenizer is applied.
 */
#include "model/model.h"
#include "reader/reader.h"

#include <stdlib.h>

struct tide_resolver {
    tide_model_tokenizer *tokenizer;
    bool default_tokenizer; /* the model does not say how it was tokenized */
};

tide_resolver *tide_resolver_new(const tide_model *model, tide_error *err)
{
    tide_resolver *r = tide_alloc(1, sizeof *r);
    if (!r) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory for looking up words");
        return NULL;
    }
    r->default_tokenizer = !*tide_model_params(model);
    r->tokenizer = tide_model_tokenizer_new_query(model, err);
    if (r->tokenizer)
        return r;
    tide_resolver_free(r);
    return NULL;
}

void tide_resolver_free(tide_resolver *r)
{
    if (r)
        tide_model_tokenizer_free(r->tokenizer);
    free(r);
}

static bool has_word(const tide_view *view, const char *word)
{
    tide_entry entry;
    return !tide_model_find(tide_view_model(view), word, &entry, NULL);
}

/* A tide_word_callback. */
static void add_token(void *term, const tide_word *word)
{
    tide_term *t = term;
    if (t->count == TIDE_TERM_MAX)
        return;
    memcpy(t->tokens[t->count], word->bytes, word->length);
    t->tokens[t->count++][word->length] = 0;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Joins the blank-separated pieces of the text by "_". Returns false if there are none
 * or the result is too long for a word. */
static bool join_pieces(const char *text, char joined[TIDE_WORD_MAX + 1])
{
    size_t used = 0;
    while (is_blank(*text))
        text++;
    for (; *text; text++) {
        bool blank = is_blank(*text);
        if (blank && (is_blank(text[1]) || !text[1]))
            continue;
        if (used == TIDE_WORD_MAX)
            return false;
        joined[used++] = blank ? '_' : *text;
    }
    joined[used] = 0;
    return used > 0;
}

/* Joins the tokens by "_". Returns false if there are fewer than two or the result is
 * too long. */
static bool join_tokens(const tide_term *term, char joined[TIDE_WORD_MAX + 1])
{
    size_t used = 0;
    for (uint32_t i = 0; i < term->count; i++) {
        size_t length = strlen(term->tokens[i]);
        if (used + length + (i > 0) > TIDE_WORD_MAX)
            return false;
        if (i)
            joined[used++] = '_';
        memcpy(joined + used, term->tokens[i], length);
        used += length;
    }
    joined[used] = 0;
    return term->count > 1;
}

static void set_single_token(tide_term *term, const char *word)
{
    term->count = 0;
    add_token(term, &(tide_word){word, (uint32_t)strlen(word)});
}

static void tokenize(tide_resolver *r, const char *text, size_t size, tide_term *term)
{
    tide_model_tokenizer_add(r->tokenizer, text, size, add_token, term);
    tide_model_tokenizer_end(r->tokenizer, add_token, term);
}

/* Adds each blank-separated piece as it is if the model has it, and otherwise its
 * tokens. */
static void tokenize_pieces(tide_resolver *r, const tide_view *view, const char *text,
                            tide_term *term)
{
    for (size_t length; *text; text += length) {
        char piece[TIDE_WORD_MAX + 1];
        while (is_blank(*text))
            text++;
        for (length = 0; text[length] && !is_blank(text[length]);)
            length++;
        snprintf(piece, sizeof piece, "%.*s",
                 (int)(length < TIDE_WORD_MAX ? length : TIDE_WORD_MAX), text);
        if (length <= TIDE_WORD_MAX && has_word(view, piece))
            add_token(term, &(tide_word){piece, (uint32_t)length});
        else
            tokenize(r, text, length, term);
    }
}

static void find_tokens(tide_resolver *r, const tide_view *view, const char *text,
                        tide_term *term)
{
    char joined[TIDE_WORD_MAX + 1];
    if (has_word(view, text)) {
        set_single_token(term, text);
        return;
    }
    if (join_pieces(text, joined) && has_word(view, joined)) {
        set_single_token(term, joined);
        return;
    }
    if (r->default_tokenizer)
        tokenize_pieces(r, view, text, term);
    else
        tokenize(r, text, strlen(text), term);
    if (join_tokens(term, joined) && has_word(view, joined))
        set_single_token(term, joined);
}

void tide_resolver_find(tide_resolver *r, const tide_view *view, const char *text,
                        tide_term *term)
{
    *term = (tide_term){0};
    tide_model_tokenizer_set_model(r->tokenizer, tide_view_model(view));
    find_tokens(r, view, text, term);
    term->exact = term->count == 1 && !strcmp(term->tokens[0], text);
    size_t used = 0;
    for (uint32_t i = 0; i < term->count; i++) {
        float vector[TIDE_DIM_MAX];
        term->has_vector[i] = !tide_view_vector(view, term->tokens[i], vector, NULL);
        if (!term->has_vector[i])
            continue;
        used += (size_t)snprintf(term->words + used, sizeof term->words - used, "%s%s",
                                 term->known++ ? " " : "", term->tokens[i]);
    }
}

size_t tide_term_suggest(const tide_term *term, const tide_model *model,
                         const char *text, tide_entry *entries, size_t capacity)
{
    for (uint32_t i = 0; i < term->count; i++)
        if (!term->has_vector[i]) {
            text = term->tokens[i];
            break;
        }
    size_t count = tide_model_suggest(model, text, entries, capacity);
    char folded[TIDE_WORD_MAX + 1];
    if (!count && tide_utf8_fold(text, folded))
        count = tide_model_suggest(model, folded, entries, capacity);
    return count;
}
