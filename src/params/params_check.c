/* params_check.c - what follows from parameters, and whether they contradict each
 * other. */
#include "model/model.h"
#include "params/params.h"
#include "sampler/sampler.h"
#include "token/token.h"
#include "vocab/vocab.h"

tide_shape tide_params_shape(const tide_params *params)
{
    return (tide_shape){
        .vocabulary = {.kind = (tide_vocabulary_kind)params->sketch,
                       .capacity = (uint32_t)params->vocab,
                       .gate = params->sketch == TIDE_VOCABULARY_SPACE_SAVING &&
                               params->admission,
                       .half_life = params->half_life,
                       .seed = params->seed},
        .dim = (uint32_t)params->dim,
        .subwords = {(uint32_t)params->subword, (uint32_t)params->minn,
                     (uint32_t)params->maxn},
    };
}

tide_sampler_options tide_params_sampler(const tide_params *params)
{
    return (tide_sampler_options){.kind = (tide_sampler_kind)params->sampler,
                                  .capacity = (uint32_t)params->vocab,
                                  .power = (float)params->power,
                                  .reservoir_size = params->reservoir,
                                  .seed = params->seed};
}

tide_tokenizer_options tide_params_tokenizer(const tide_params *params,
                                             const char *stop_words)
{
    return (tide_tokenizer_options){
        .kind = (tide_tokenizer_kind)params->tokenizer,
        .numbers = (tide_token_action)params->numbers,
        .hashtags = (tide_token_action)params->hashtags,
        .mentions = (tide_token_action)params->mentions,
        .urls = (tide_token_action)params->urls,
        .first_rules = params->tokenizer_version == 0,
        .shortest = (uint32_t)params->min_length,
        .longest =
            params->max_length < TIDE_WORD_MAX ? (uint32_t)params->max_length : 0,
        .stop_words = stop_words,
        .kept_prefix = params->labels == TIDE_LABELS_HASHTAGS ? "#"
                       : params->labels == TIDE_LABELS_MARKED ? TIDE_LABEL_PREFIX
                                                              : NULL,
    };
}

tide_record_options tide_params_records(const tide_params *params)
{
    return (tide_record_options){.kind = (tide_record_kind)params->records,
                                 .text = *params->text ? params->text : "text",
                                 .time = params->time,
                                 .label = params->label_field,
                                 .one_line = params->labels != TIDE_LABELS_OFF,
                                 .delimiter = *params->delimiter};
}

/* # followed by U+FE0F or U+20E3 is the keycap emoji and not a hashtag. */
static bool is_hashtag(const tide_word *word)
{
    static const char *const keycaps[] = {"\xef\xb8\x8f", "\xe2\x83\xa3"};
    return word->length > 1 && word->bytes[0] == '#' &&
           !(word->length > 3 && (!memcmp(word->bytes + 1, keycaps[0], 3) ||
                                  !memcmp(word->bytes + 1, keycaps[1], 3)));
}

bool tide_params_label(const tide_params *params, const tide_word *word,
                       tide_word *label)
{
    enum { PREFIX = TIDE_LABEL_PREFIX_SIZE };
    *label = *word;
    if (params->labels == TIDE_LABELS_HASHTAGS)
        return is_hashtag(word);
    if (params->labels == TIDE_LABELS_OFF || word->length < PREFIX ||
        memcmp(word->bytes, TIDE_LABEL_PREFIX, PREFIX) != 0)
        return false;
    *label = (tide_word){word->bytes + PREFIX, word->length - PREFIX};
    return true;
}

bool tide_params_fixed_vocabulary(const tide_params *params)
{
    return params->epochs || params->frozen;
}

bool tide_params_batch(const tide_params *params)
{
    return params->epochs && !params->frozen;
}

/* Parts that follow a stream do not work with counts that are fixed from the
 * beginning. */
static int check_batch(const tide_params *p, tide_error *err)
{
    if (p->sampler != TIDE_SAMPLER_ALIAS)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "epochs needs sampler alias: reservoirs are for streams");
    if (p->half_life)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "epochs cannot be combined with half-life: counts are fixed");
    if (p->phrases)
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "epochs cannot be combined with phrases: a pair would be one word in "
            "one epoch and two in another");
    return TIDE_OK;
}

static int check_records(const tide_params *p, tide_error *err)
{
    if (p->records == TIDE_RECORDS_LINES && (*p->text || *p->time || *p->label_field))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "text, time and label-field need records json, csv or tsv");
    if (*p->delimiter && p->records != TIDE_RECORDS_CSV)
        return tide_fail(err, TIDE_ERROR_PARAMETER, "delimiter needs records csv");
    if (*p->delimiter &&
        (*p->delimiter <= ' ' || *p->delimiter > '~' || *p->delimiter == '"'))
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "delimiter must be a character like ; or |; for tabs use records tsv");
    return TIDE_OK;
}

static int check_labels(const tide_params *p, tide_error *err)
{
    bool hashtags_kept =
        p->tokenizer == TIDE_TOKENIZER_SPACE ||
        (p->tokenizer == TIDE_TOKENIZER_SOCIAL && p->hashtags == TIDE_KEEP);
    if (p->labels == TIDE_LABELS_HASHTAGS && !hashtags_kept)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "labels hashtags needs tokenizer space, or tokenizer social "
                         "with hashtags keep");
    return TIDE_OK;
}

int tide_params_check(const tide_params *p, tide_error *err)
{
    if (p->rate_half_life && p->rate_half_life < RATE_HALF_LIFE_MIN)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "rate-half-life must be 0 or at least %d", RATE_HALF_LIFE_MIN);
    if (p->minn > p->maxn)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "minn must not be greater than maxn");
    if (p->optimizer == TIDE_OPTIMIZER_COORDINATE &&
        (p->subword || p->negative_sharing != TIDE_NEGATIVE_SHARING_PAIR))
        return tide_fail(
            err, TIDE_ERROR_PARAMETER,
            "optimizer coordinate needs negative-sharing pair and no subword");
    if (p->gradient == TIDE_GRADIENT_AFTER &&
        (p->negative_sharing != TIDE_NEGATIVE_SHARING_PAIR || p->subword ||
         p->optimizer == TIDE_OPTIMIZER_COORDINATE ||
         p->optimizer == TIDE_OPTIMIZER_ADAGRAD))
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "gradient after needs negative-sharing pair, no subword, and "
                         "optimizer linear, power, constant or decay");
    if (p->half_life && p->sketch != TIDE_VOCABULARY_SPACE_SAVING)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "half-life needs sketch space-saving");
    if (p->min_length > p->max_length)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "min-length must not be greater than max-length");
    int status = p->epochs ? check_batch(p, err) : TIDE_OK;
    if (!status)
        status = check_labels(p, err);
    return status ? status : check_records(p, err);
}
