/* commands.h - the commands, one file each. argv[0] is the command's name; the result
 * is the exit code. */
#ifndef COMMANDS_H
#define COMMANDS_H

int cmd_train(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_labels(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_nearest(int argc, char **argv);
int cmd_similarity(int argc, char **argv);
int cmd_analogy(int argc, char **argv);
int cmd_vector(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_words(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_bench(int argc, char **argv);

#endif
