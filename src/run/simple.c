/* simple.c - training on a file and asking for neighbors, each in one call. */
#include "base/base.h"

int tide_train_file(const char *text_path, const char *model_path, const char *profile,
                    tide_error *err)
{
    tide_error ignored = {0};
    err = err ? err : &ignored;
    tide_params *params = tide_params_new(err);
    if (!params)
        return (int)err->status;
    int status = tide_params_set(params, "profile", profile ? profile : "default", err);
    tide_trainer *trainer = status ? NULL : tide_trainer_new(params, err);
    tide_params_free(params);
    if (!trainer)
        return (int)err->status;
    const tide_run run = {.size = sizeof(tide_run),
                          .sources = &text_path,
                          .source_count = 1,
                          .save_path = model_path,
                          .keep_checkpoints = 1};
    status = tide_trainer_run(trainer, &run, err);
    tide_stats stats;
    tide_trainer_stats(trainer, &stats, sizeof stats);
    if (!status && !stats.tokens)
        status = tide_fail(err, TIDE_ERROR_INPUT, "%s has no words", text_path);
    tide_trainer_free(trainer);
    return status;
}

int tide_nearest(const tide_model *model, const char *word, tide_hit *hits,
                 size_t capacity, tide_error *err)
{
    tide_view *view = tide_view_new(model, TIDE_VECTORS_INPUT, true, err);
    tide_resolver *resolver = view ? tide_resolver_new(model, err) : NULL;
    int found = TIDE_ERROR_MEMORY;
    if (resolver) {
        tide_term term;
        tide_resolver_find(resolver, view, word, &term);
        const char *words = term.known ? term.words : word;
        const tide_query query = {.positive = &words, .positive_count = 1};
        found = tide_view_nearest(view, &query, hits, capacity, err);
    }
    tide_resolver_free(resolver);
    tide_view_free(view);
    return found;
}
