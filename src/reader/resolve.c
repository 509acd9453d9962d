/* resolve.c - what people write, in the words of a model.
 *
 * In this order: a word that is held exactly as written; the words of the text joined by "_", as written and as
 * the tokenizer gives them, for phrases that were joined before or while the model was trained; and the
 * tokenizer's words, of which those count that have a vector. A file of vectors tells nothing of its tokenizer,
 * so there the pieces between blanks are tried as they are before they go through the default one.
 */
#include "model/model.h"
#include "reader/reader.h"

#include <stdlib.h>

struct tide_resolver {
    tide_model_tokenizer *wording;
    bool guessed; /* the tokenizer is the default one, not the model's */
};

tide_resolver *tide_resolver_new(const tide_model *model, tide_error *err)
{
    tide_resolver *r = tide_alloc(1, sizeof *r);
    if (!r) {
        tide_fail(err, TIDE_ERROR_MEMORY, "no memory to look words up");
        return NULL;
    }
    r->guessed = !*tide_model_params(model);
    r->wording = tide_model_tokenizer_new_query(model, err);
    if (r->wording)
        return r;
    tide_resolver_free(r);
    return NULL;
}

void tide_resolver_free(tide_resolver *r)
{
    if (r)
        tide_model_tokenizer_free(r->wording);
    free(r);
}

static bool held(const tide_view *space, const char *word)
{
    tide_entry entry;
    return !tide_model_find(tide_view_model(space), word, &entry, NULL);
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

/* The pieces of the text between its blanks joined by "_"; false when that is too long for a word. */
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

static void set_token(tide_term *term, const char *word)
{
    term->count = 0;
    add_token(term, &(tide_word){word, (uint32_t)strlen(word)});
}

static void tokenize(tide_resolver *r, const char *text, size_t size, tide_term *term)
{
    tide_model_tokenizer_add(r->wording, text, size, add_token, term);
    tide_model_tokenizer_end(r->wording, add_token, term);
}

/* The pieces that are held as they are, and the words of the others. */
static void tokenize_pieces(tide_resolver *r, const tide_view *space, const char *text,
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
        if (length <= TIDE_WORD_MAX && held(space, piece))
            add_token(term, &(tide_word){piece, (uint32_t)length});
        else
            tokenize(r, text, length, term);
    }
}

static void find_tokens(tide_resolver *r, const tide_view *space, const char *text,
                        tide_term *term)
{
    char joined[TIDE_WORD_MAX + 1];
    if (held(space, text)) {
        set_token(term, text);
        return;
    }
    if (join_pieces(text, joined) && held(space, joined)) {
        set_token(term, joined);
        return;
    }
    if (r->guessed)
        tokenize_pieces(r, space, text, term);
    else
        tokenize(r, text, strlen(text), term);
    if (join_tokens(term, joined) && held(space, joined))
        set_token(term, joined);
}

void tide_resolver_find(tide_resolver *r, const tide_view *space, const char *text,
                        tide_term *term)
{
    *term = (tide_term){0};
    tide_model_tokenizer_use(r->wording, tide_view_model(space));
    find_tokens(r, space, text, term);
    term->exact = term->count == 1 && !strcmp(term->tokens[0], text);
    size_t used = 0;
    for (uint32_t i = 0; i < term->count; i++) {
        float vector[TIDE_DIM_MAX];
        term->has_vector[i] = !tide_view_vector(space, term->tokens[i], vector, NULL);
        if (!term->has_vector[i])
            continue;
        used += (size_t)snprintf(term->words + used, sizeof term->words - used, "%s%s",
                                 term->known++ ? " " : "", term->tokens[i]);
    }
}

size_t tide_term_suggest(const tide_term *term, const tide_model *model,
                         const char *text, tide_entry *entries, size_t room)
{
    for (uint32_t i = 0; i < term->count; i++)
        if (!term->has_vector[i]) {
            text = term->tokens[i];
            break;
        }
    size_t count = tide_model_suggest(model, text, entries, room);
    char folded[TIDE_WORD_MAX + 1];
    if (!count && tide_utf8_fold(text, folded))
        count = tide_model_suggest(model, folded, entries, room);
    return count;
}
