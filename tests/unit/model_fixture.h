/* model_fixture.h - small models of all kinds. */
#ifndef TIDE_MODEL_FIXTURE_H
#define TIDE_MODEL_FIXTURE_H

#include "train_fixture.h"

/* Settings that lead to different kinds of models. */
static const char *const model_kinds[] = {
    "",
    "admission=none",
    "vocabulary=misra-gries",
    "vocabulary=exact",
    "subword=700",
    "vocab=3000",
    "vocab=3000 admission=none",
    "vocab=3000 vocabulary=misra-gries",
    "vocab=3000 vocabulary=exact sampler=reservoir reservoir=1000",
    "vocab=3000 admission=none subword=500 minn=1 maxn=8"};

/* A trained model with a few hundred words. */
static inline tide_trainer *small_trainer(const char *settings)
{
    char all[256];
    snprintf(all, sizeof all, "vocab=400 dim=20 replay=1 %s", settings);
    corpus t = demo_text(21, 6000);
    tide_trainer *trainer = trained(all, &t);
    free(t.bytes);
    return trainer;
}

static inline tide_model *load_model(const char *path)
{
    tide_error err;
    tide_model *model = tide_model_load(path, &err);
    if (!model)
        fail_msg("%s", err.text);
    return model;
}

#endif
