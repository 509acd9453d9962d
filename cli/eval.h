/* eval.h - the things that `wordtide eval` does, one file each. argv[0] is what is
 * asked for, as in "eval similarity"; the result is the exit code. */
#ifndef EVAL_H
#define EVAL_H

int eval_similarity(int argc, char **argv);
int eval_analogy(int argc, char **argv);
int eval_counts(int argc, char **argv);
int eval_agreement(int argc, char **argv);
int eval_trace(int argc, char **argv);
int eval_drift(int argc, char **argv);

#endif
