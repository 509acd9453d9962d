/* params_internal.h - what the files params*.c share. Private. */
#ifndef TIDE_PARAMS_PARAMS_INTERNAL_H
#define TIDE_PARAMS_PARAMS_INTERNAL_H

#include "base/base.h"

typedef enum tide_param_kind { COUNT, SEED, SIZE, REAL, CHOICE, TEXT } tide_param_kind;

/* Whether a parameter is stored in model files. */
typedef enum tide_param_storage {
    STORED,
    NOT_STORED,        /* concerns the run and not its result */
    STORED_IF_CHANGED, /* unless it has its default, which older files imply */
    STORED_IF_SET,     /* unless it is the first choice, which older files imply */
} tide_param_storage;

/* How the parameter with the same index in tide_param_infos is parsed and stored. */
typedef struct tide_param_rule {
    size_t offset;
    double min, max; /* TEXT: max is that of its length */
    tide_param_kind kind;
    tide_param_storage storage;
} tide_param_rule;

extern const tide_param_info tide_param_infos[];
extern const tide_param_rule tide_param_rules[];
extern const int tide_param_count;

/* By tide_profile: the differences from profile default, as "name=value name=value". */
extern const char *const tide_param_profiles[];

#endif
