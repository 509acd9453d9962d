/* labels_train.c - wordtide labels train: words and labels of a stream, and then the classifier.
 *
 * The model is saved when the stream has ended, before the classifier learns: whatever ends the
 * process then, `labels fit` goes on from there. A stream that was stopped by a signal may go on
 * later, and so its classifier is not made before somebody asks for it. */
#include "labels.h"
#include "learning.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static const char command[] = "labels train";

/* Labels are what the records say, or else hashtags, which only social text has. A profile says what
 * a word is, but nothing of labels, so that hashtags go before it. */
static void choose_labels(learning *job)
{
    settings *typed = &job->training.typed;
    const char *labels = settings_value(typed, "labels");
    if (labels && !strcmp(labels, "off"))
        usage_error(command, "--labels off: 'wordtide train' learns words alone");
    if (job->training.resume)
        return;
    if (!labels) {
        labels = settings_value(typed, "label-field") ? "marked" : "hashtags";
        settings_add(typed, "labels", labels);
    }
    if (!strcmp(labels, "hashtags") && !settings_value(typed, "tokenizer"))
        settings_add(typed, "tokenizer", "social");
}

static int learn(learning *job, tide_trainer *trainer)
{
    char text[1024];
    if (!tracks_labels(trainer, job->training.resume))
        return EXIT_MODEL;
    tide_trainer_watch_labels(trainer, NULL, progress_epoch, &job->progress);
    int code = learning_run(job, trainer);
    if (code != EXIT_SUCCESS)
        return code;
    if (!job->stopped)
        return fit_and_save(trainer, &job->progress, learning_path(job),
                            job->saved ? 0 : OLDER);
    snprintf(text, sizeof text,
             "stopped; 'wordtide labels fit %s' makes the classifier now",
             learning_path(job));
    progress_note(&job->progress, false, text);
    return EXIT_SUCCESS;
}

int labels_train(int argc, char **argv)
{
    const command_usage usage = {
        command,
        "labels train [OPTION]... [SOURCE]... -o MODEL",
        "Learns words as 'wordtide train' does, and on the same way which labels "
        "posts carry: their hashtags, with --label-field what a field of their records "
        "says, "
        "or with --labels marked words __label__NAME, as in fastText. A post is a line "
        "or a record; its labels are taken out of its text. The "
        "most frequent labels are counted (--label-slots) and a sample of the posts of "
        "each is kept (--label-memory). When the stream ends, a classifier learns to "
        "tell the most frequent ones (--label-top) from the words of a post. SIGINT "
        "and "
        "SIGTERM save the model and leave the classifier to 'wordtide labels fit'; "
        "while it learns, they end that with what is best so far.",
        .examples =
            "wordtide labels train posts.txt -o posts.tide\n"
            "wordtide labels train posts.jsonl --text body --time date -o posts.tide\n"
            "wordtide labels train mail.tsv --text 3 --label-field 2 -o mail.tide\n"
            "wordtide labels train fasttext.txt --labels marked -o texts.tide\n"
            "wordtide labels train --resume posts.tide more.jsonl\n",
        .parameters = true,
        .least = 0,
        .most = -1,
    };
    learning job = {0};
    int code;
    learning_take(&job, argc, argv, usage);
    choose_labels(&job);
    tide_trainer *trainer = learning_begin(&job, &code);
    if (trainer)
        code = learn(&job, trainer);
    tide_trainer_free(trainer);
    learning_release(&job);
    return code;
}
