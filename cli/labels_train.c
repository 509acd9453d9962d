/* labels_train.c - wordtide labels train: words and labels of a stream, then the
 * classifier.
 *
 * The model is saved when the stream ends, before the classifier is fitted. If the
 * process dies while fitting, `labels fit` continues from that file. A stream stopped
 * by a signal may be continued later, so its classifier is left to `labels fit`.
 */
#include "labels.h"
#include "output.h"
#include "train_run.h"

#include <stdlib.h>
#include <string.h>

static const char command[] = "labels train";

/* Labels come from --label-field, otherwise from hashtags, which only the social
 * tokenizer keeps. Both settings are added after the profile that was typed, since a
 * profile chooses a tokenizer too. */
static void choose_labels(train_input *input)
{
    settings *typed = &input->typed;
    const char *labels = settings_value(typed, "labels");
    if (labels && !strcmp(labels, "off"))
        usage_error(command, "--labels off: use 'wordtide train' to learn words only");
    if (input->resume)
        return;
    if (!labels) {
        labels = settings_value(typed, "label-field") ? "marked" : "hashtags";
        settings_add(typed, "labels", labels);
    }
    if (!strcmp(labels, "hashtags") && !settings_value(typed, "tokenizer"))
        settings_add(typed, "tokenizer", "social");
}

static int train(train_job *job, tide_trainer *trainer)
{
    char text[1024];
    const char *path = train_options_model_path(&job->options);
    if (!tracks_labels(trainer, job->options.input.resume))
        return EXIT_MODEL;
    tide_trainer_watch_labels(trainer, NULL, progress_epoch, &job->progress);
    int code = train_job_run(job, trainer);
    if (code != EXIT_SUCCESS)
        return code;
    if (!job->stopped)
        return fit_and_save(trainer, &job->progress, path,
                            job->saved ? 0 : BACKUPS_DEFAULT);
    snprintf(text, sizeof text,
             "stopped; 'wordtide labels fit %s' fits the classifier now", path);
    progress_note(&job->progress, false, text);
    return EXIT_SUCCESS;
}

int labels_train(int argc, char **argv)
{
    const command_usage usage = {
        command,
        "labels train [OPTION]... [SOURCE]... -o MODEL",
        "Learns word vectors as 'wordtide train' does and, in the same pass, the "
        "labels of posts: their hashtags; with --label-field the values of a field of "
        "their records; or with --labels marked, words like __label__NAME, as in "
        "fastText. A post is a line or a record; its labels are removed from its text. "
        "The most frequent labels are counted (--label-slots), and a sample of the "
        "posts of each is kept (--label-memory). A classifier learns from every post "
        "to predict the most frequent labels (--label-top) from its words; other kinds "
        "(--classifier) are fitted to the samples when the stream ends. "
        "SIGINT and SIGTERM save the model and leave the classifier to "
        "'wordtide labels fit'; while it is being fitted, they stop that and keep the "
        "best result so far.",
        .examples =
            "wordtide labels train posts.txt -o posts.tide\n"
            "wordtide labels train posts.jsonl --text body --time date -o posts.tide\n"
            "wordtide labels train mail.tsv --text 3 --label-field 2 -o mail.tide\n"
            "wordtide labels train fasttext.txt --labels marked -o texts.tide\n"
            "wordtide labels train --resume posts.tide more.jsonl\n",
        .parameters = true,
        .min_operands = 0,
        .max_operands = -1,
        .common = common_label_parameters,
    };
    train_job job = {0};
    int code;
    train_options_parse(&job.options, argc, argv, usage);
    choose_labels(&job.options.input);
    tide_trainer *trainer = train_job_open(&job, &code);
    if (trainer)
        code = train(&job, trainer);
    tide_trainer_free(trainer);
    train_options_release(&job.options);
    return code;
}
