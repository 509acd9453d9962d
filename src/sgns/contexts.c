/* contexts.c - which neighbors of a word are its contexts, and with which weights.
 *
 *   weighted  all words within `window`; the one at distance d weighs 1/d. Close to the
 *             expectation of dynamic, without its variance.
 *   dynamic   all words within a width drawn from 1..window for each center, with equal
 *             weights (word2vec).
 *   full      all words within `window`, but only where the whole window lies within
 *             the sentence (the paper's Algorithm 2). Only here a sentence can have
 *             holes, left by words that have lost their slots; a window with a hole
 *             does not count.
 */
#include "params/params.h"
#include "sgns/sgns.h"
#include "vocab/vocab.h"

void tide_contexts_init(tide_contexts *contexts, const tide_params *params)
{
    uint32_t width = (uint32_t)params->window;
    *contexts = (tide_contexts){.kind = params->contexts, .width = width};
    /* Symmetric around its middle and zero beyond the window: the centers of a quad
     * look up words that are too far away for some of them. */
    for (uint32_t d = 1; d <= width; d++) {
        float weight =
            params->contexts == TIDE_CONTEXTS_WEIGHTED ? 1.0f / (float)d : 1.0f;
        contexts->weights[CONTEXTS_MIDDLE - d] = weight;
        contexts->weights[CONTEXTS_MIDDLE + d] = weight;
        contexts->cumulative[d] = contexts->cumulative[d - 1] + weight;
    }
}

static bool is_whole(const tide_sentence *sentence, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
        if (sentence->slots[i] == TIDE_NO_SLOT)
            return false;
    return true;
}

bool tide_contexts_around(const tide_contexts *contexts, const tide_sentence *sentence,
                          tide_rng *rng, uint32_t at, uint32_t *first, uint32_t *last)
{
    uint32_t count = sentence->count;
    uint32_t width = contexts->width;
    /* Drawn for every center, even one without contexts, so that the draws of the
     * others do not depend on it. */
    if (contexts->kind == TIDE_CONTEXTS_DYNAMIC)
        width = 1 + (uint32_t)tide_rng_below(rng, width);
    if (contexts->kind == TIDE_CONTEXTS_FULL && (at < width || at + width >= count))
        return false;
    *first = at > width ? at - width : 0;
    *last = at + width < count ? at + width : count - 1;
    if (contexts->kind == TIDE_CONTEXTS_FULL)
        return is_whole(sentence, *first, *last);
    return *last > *first;
}
