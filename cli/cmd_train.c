/* cmd_train.c - wordtide train: learn from sources until they end or a signal comes. */
#include "commands.h"
#include "labels.h"
#include "learning.h"

int cmd_train(int argc, char **argv)
{
    const command_usage usage = {
        "train",
        "train [OPTION]... [SOURCE]... -o MODEL",
        "Learns in one pass from text, a sentence a line. A SOURCE is a file or a "
        "pipe, "
        "plain or compressed with gzip, zstd or xz; '-' for standard input (the "
        "default); 'kafka://BROKER/TOPIC', with '?group=NAME' for a consumer group; "
        "or 'demo:'. Lines may be text, JSON objects, CSV or TSV (--records, --text). "
        "Memory is fixed by the parameters and shown at the start. SIGINT and SIGTERM "
        "save the model and end well, and so does SIGHUP when the terminal is closed; "
        "a "
        "second one ends at once. SIGUSR1 saves now and goes on. With --batch the text "
        "is stored in files, and read several times as word2vec does; its words are "
        "counted before, which takes memory for every different one.",
        .examples =
            "wordtide demo --tokens 1e6 | wordtide train -o news.tide\n"
            "wordtide train day1.txt day2.txt -o news.tide --vocab 100000 --dim 200\n"
            "wordtide train --follow chat.log -o chat.tide --every 60s --tokenizer "
            "social\n"
            "wordtide train posts.jsonl.zst --text body,user.name -o posts.tide\n"
            "wordtide train kafka://localhost/posts?group=words --text body -o "
            "posts.tide\n"
            "wordtide train feed --checkpoint chat.tide --continue --spool chat.spool\n"
            "wordtide train --resume news.tide day3.txt\n"
            "wordtide train --batch --epochs 3 corpus.txt -o corpus.tide\n"
            "wordtide train --resume corpus.tide --frozen yes new.txt -o static.tide\n",
        .parameters = true,
        .least = 0,
        .most = -1,
        .takes = is_about_words,
        .instead = "labels train",
    };
    learning job = {0};
    int code;
    learning_take(&job, argc, argv, usage);
    tide_trainer *trainer = learning_begin(&job, &code);
    if (trainer)
        code = learning_run(&job, trainer);
    if (trainer && job.saved)
        progress_suggest(&job.progress, learning_path(&job),
                         tide_model_example(tide_trainer_model(trainer)));
    tide_trainer_free(trainer);
    learning_release(&job);
    return code;
}
