/* cmd_labels.c - wordtide labels: finds what is to be done with labels and hands over. */
#include "commands.h"
#include "family.h"
#include "labels.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static const family_member labelings[] = {
    {"train", "learn words and their labels from a stream", labels_train},
    {"fit", "learn anew to tell labels, without a stream", labels_fit},
    {"list", "the labels of a model, with counts and error bounds", labels_list},
    {"predict", "the labels that lines of text might carry", labels_predict},
    {"eval", "tell the labels of a stream, post by post, and judge that", labels_eval},
    {0},
};

int cmd_labels(int argc, char **argv)
{
    return family_run(
        "Learns and tells the labels of posts: their hashtags, or a field.", labelings,
        argc, argv);
}

/* -- shared ------------------------------------------------------------------------ */

bool is_about_words(const tide_param_info *parameter)
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
    complain("%s has no labels: 'wordtide labels train' begins a model with them",
             path);
    return false;
}

float take_threshold(const char *text, const char *command)
{
    char *end;
    float value = strtof(text, &end);
    if (*end || end == text || !(value >= 0 && value <= 1))
        usage_error(command, "--threshold '%s' is not a number from 0 to 1", text);
    return value;
}
