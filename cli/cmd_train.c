/* cmd_train.c - wordtide train: learn word vectors until the sources end or a signal
 * stops it. */
#include "commands.h"
#include "labels.h"
#include "train_run.h"

int cmd_train(int argc, char **argv)
{
    const command_usage usage = {
        "train",
        "train [OPTION]... [SOURCE]... -o MODEL",
        "Learns word vectors from text in one pass; every line is a sentence. A SOURCE "
        "is a file or a pipe, plain or compressed with gzip, zstd or xz; '-' for "
        "standard input (the default); 'kafka://BROKER/TOPIC', with '?group=NAME' for "
        "a consumer group; or 'demo:'. Lines may be text, JSON objects, CSV or TSV "
        "(--records, --text). The parameters fix the memory, which is shown at the "
        "start. SIGINT and SIGTERM save the model and exit; so does SIGHUP when the "
        "terminal is closed. A second one exits at once. SIGUSR1 saves the model and "
        "continues. With --batch the text must be in files, which are read several "
        "times, as word2vec does; counting its words first takes memory for every "
        "distinct word.",
        .examples =
            "wordtide demo --tokens 1e6 | wordtide train -o news.tide\n"
            "wordtide train day1.txt day2.txt -o news.tide --vocab 100000 --dim 200\n"
            "wordtide train --resume news.tide day3.txt\n"
            "wordtide train posts.jsonl.zst --text body,user.name -o posts.tide\n"
            "wordtide train --batch --epochs 3 corpus.txt -o corpus.tide\n"
            "wordtide train --follow chat.log -o chat.tide --every 60s --tokenizer "
            "social\n"
            "wordtide train feed --checkpoint chat.tide --continue --spool chat.spool\n"
            "wordtide train kafka://localhost/posts?group=words --text body -o "
            "posts.tide\n"
            "wordtide train --resume corpus.tide --frozen yes new.txt -o static.tide\n",
        .parameters = true,
        .min_operands = 0,
        .max_operands = -1,
        .common = common_parameters,
        .accepts = is_word_parameter,
        .other_command = "labels train",
    };
    train_job job = {0};
    int code;
    train_options_parse(&job.options, argc, argv, usage);
    tide_trainer *trainer = train_job_open(&job, &code);
    if (trainer)
        code = train_job_run(&job, trainer);
    if (trainer && job.saved)
        progress_suggest(&job.progress, train_options_model_path(&job.options),
                         tide_model_example(tide_trainer_model(trainer)));
    tide_trainer_free(trainer);
    train_options_release(&job.options);
    return code;
}
