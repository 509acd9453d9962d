/* run_options.c - the caller's tide_run as this version of the library knows it,
 * and a check of its paths. */
#include "run/run_internal.h"

/* A program built against an older header gives fewer members: the others are 0. One
 * built against a newer header gives more: they must be 0, since this version cannot
 * honor them. */
int tide_run_copy(tide_run *run, const tide_run *given, tide_error *err)
{
    const char *bytes = (const char *)given;
    size_t known = given->size < sizeof *run ? given->size : sizeof *run;
    if (given->size < offsetof(tide_run, sources) + sizeof given->sources)
        return tide_fail(err, TIDE_ERROR_PARAMETER,
                         "tide_run.size is not set to sizeof(tide_run)");
    for (size_t i = known; i < given->size; i++)
        if (bytes[i])
            return tide_fail(err, TIDE_ERROR_PARAMETER,
                             "tide_run has members that version %s does not know",
                             tide_version());
    *run = (tide_run){0};
    memcpy(run, given, known);
    run->size = sizeof *run;
    return TIDE_OK;
}

int tide_run_check_targets(const tide_run *run, tide_error *err)
{
    const char *const paths[] = {run->save_path, run->checkpoint_path};
    int status = TIDE_OK;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !status; i++)
        if (paths[i])
            status = tide_path_replaceable(paths[i], run->keep_checkpoints, err);
    return status;
}
