/* contexts.c - which neighbors of a word are its contexts, and how much each counts.
 *
 *   weighted  all within `window`, fewer at the ends of the sentence; the one at distance d counts
 *             1/d. The expectation of dynamic, nearly, without its noise.
 *   dynamic   all within a width drawn from 1..window for every word, all alike (word2vec).
 *   full      all within `window`, and only where the whole window fits the sentence (the paper's
 *             Algorithm 2). Only here a lesson has holes, where a word has lost its slot: a window
 *             with one is not whole.
 */
#include "params/params.h"
#include "sgns/sgns.h"
#include "vocab/vocab.h"

void tide_contexts_init(tide_contexts *contexts, const tide_params *params)
{
    uint32_t width = (uint32_t)params->window;
    *contexts = (tide_contexts){.kind = params->contexts, .width = width};
    for (uint32_t d = 1; d <= width; d++) {
        float weight = params->contexts == CONTEXTS_WEIGHTED ? 1.0f / (float)d : 1.0f;
        contexts->weights[CONTEXTS_MIDDLE - d] = weight;
        contexts->weights[CONTEXTS_MIDDLE + d] = weight;
        contexts->reach[d] = contexts->reach[d - 1] + weight;
    }
}

static bool is_whole(const tide_sentence *lesson, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
        if (lesson->slots[i] == TIDE_NO_SLOT)
            return false;
    return true;
}

bool tide_contexts_around(const tide_contexts *contexts, const tide_sentence *lesson,
                          tide_rng *rng, uint32_t at, uint32_t *first, uint32_t *last)
{
    uint32_t count = lesson->count;
    uint32_t width = contexts->width;
    if (contexts->kind == CONTEXTS_DYNAMIC)
        width = 1 + (uint32_t)tide_rng_below(rng, width);
    if (contexts->kind == CONTEXTS_FULL && (at < width || at + width >= count))
        return false;
    *first = at > width ? at - width : 0;
    *last = at + width < count ? at + width : count - 1;
    if (contexts->kind == CONTEXTS_FULL)
        return is_whole(lesson, *first, *last);
    return *last > *first;
}
