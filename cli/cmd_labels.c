/* cmd_labels.c - wordtide labels: runs its subcommands, and what they share. */
#include "commands.h"
#include "labels.h"
#include "output.h"
#include "subcommands.h"

#include <stdlib.h>
#include <string.h>

static const subcommand subcommands[] = {
    {"train", "learn words and labels from a stream", labels_train},
    {"fit", "fit the classifier again, without a stream", labels_fit},
    {"list", "list the labels of a model with counts and error bounds", labels_list},
    {"predict", "predict the labels of lines of text", labels_predict},
    {"eval", "predict the labels of a stream post by post, and score them",
     labels_eval},
    {0},
};

int cmd_labels(int argc, char **argv)
{
    return run_subcommand(
        "Learns and predicts the labels of posts: their hashtags, or a field.",
        subcommands, argc, argv);
}

/* -- shared ------------------------------------------------------------------------ */

bool is_word_parameter(const tide_param_info *parameter)
{
    return strcmp(parameter->group, "Labels") != 0 &&
           strcmp(parameter->group, "Classifier") != 0;
}

bool tracks_labels(const tide_trainer *trainer, const char *path)
{
    char labels[16] = "";
    tide_params_text(tide_trainer_params(trainer), "labels", labels, sizeof labels);
    if (strcmp(labels, "off") != 0)
        return true;
    log_message("%s has no labels; 'wordtide labels train' creates models with labels",
                path);
    return false;
}

float parse_threshold(const char *text, const char *command)
{
    char *end;
    float value = strtof(text, &end);
    if (*end || end == text || !(value >= 0 && value <= 1))
        usage_error(command, "--threshold '%s' is not a number from 0 to 1", text);
    return value;
}
