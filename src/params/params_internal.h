/* params.h - what the files about parameters share. */
#ifndef TIDE_PARAMS_PARAMS_INTERNAL_H
#define TIDE_PARAMS_PARAMS_INTERNAL_H

#include "base/base.h"

typedef enum tide_param_kind { COUNT, SEED, SIZE, REAL, CHOICE, TEXT } tide_param_kind;

typedef enum tide_param_keeping {
    FILED,
    LOCAL,    /* about a run, not about its result: not kept in the file */
    OPTIONAL, /* kept unless it has its first value, as older files do not have it */
    LATER,    /* a choice; kept unless it is the first, which is that of older files */
} tide_param_keeping;

/* How the parameter with the same place in tide_param_infos is read and kept. */
typedef struct tide_param_rule {
    size_t offset;
    double least, most; /* TEXT: of its length */
    tide_param_kind kind;
    tide_param_keeping keeping;
} tide_param_rule;

extern const tide_param_info tide_param_infos[];
extern const tide_param_rule tide_param_rules[];
extern const int tide_param_count;

/* By tide_profile, "name=value name=value": what differs from profile default. */
extern const char *const tide_param_profiles[];

#endif
