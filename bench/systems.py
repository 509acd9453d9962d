"""The programs that are compared: profiles of wordtide and other trainers.

A System is a command with placeholders for what differs between runs: {text}, the file to
read; {repeated}, the same text `epochs` times; {out}, the file of vectors to write; {seed};
{words}, a file of words of which vectors are wanted even if the text does not contain them.
If a program cannot write these during training, `unseen` prints those of words it reads.

Every program runs with its own defaults, except that it trains skip-gram, with one thread.
All have 100 dimensions and 5 negatives; the other trainers have a window of 5 and drop words
that occur less than five times. fastText subsamples at 1e-4, gensim and word2vec.c at 1e-3.
"""
import os
import re
import shutil
import subprocess
from collections import namedtuple

from lab import Failed, say
from lab.cache import fingerprint

System = namedtuple("System", "name family epochs command program unseen",
                    defaults=(None, None))
System.label = property(lambda system: system.name + epochs_text(system.epochs))
System.seeded = property(lambda system: any("{seed}" in part for part in system.command))

WORDTIDE, FASTTEXT, GENSIM, WORD2VEC, OTHER = (
    "wordtide", "fastText", "gensim", "word2vec.c", "other")
BATCH = "batch"  # stands for `train --batch` in a list of profiles
PYTHON = "/usr/bin/python3"  # has Debian's gensim
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

GENSIM_SCRIPT = """
import sys
from gensim import models
kind, text, out, epochs, seed, words = sys.argv[1:]
model = getattr(models, kind)(corpus_file=text, sg=1, workers=1, epochs=int(epochs), seed=int(seed))
vectors = model.wv
if kind == "FastText":
    unseen = [word for word in open(words).read().split() if word not in vectors.key_to_index]
    vectors = models.KeyedVectors(vectors.vector_size)
    vectors.add_vectors(model.wv.index_to_key, model.wv.vectors)
    if unseen:
        vectors.add_vectors(unseen, [model.wv[word] for word in unseen])
vectors.save_word2vec_format(out, binary=True, sort_attr=None)
"""


def epochs_text(epochs):
    return "" if epochs is None else f", {epochs} epoch{'s' * (epochs != 1)}"


def fill_in(command, **places):
    """The command with each {name} replaced by its value in `places`."""
    pattern = re.compile(r"\{(%s)\}" % "|".join(places))
    return [pattern.sub(lambda match: str(places[match[1]]), part) for part in command]


def identity(system):
    """What the results of a system depend on besides its text and seed."""
    program = system.program and [fingerprint(path) for path in files_of(system.program)]
    return [system.command, program]


def files_of(program):
    """A program and, if it is linked to one, libwordtide.so."""
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return [program, *re.findall(r"libwordtide\S* => (\S+)", linked.stdout)]


# -- wordtide --------------------------------------------------------------------------


def profiles_of(command):
    """The profiles that the command knows."""
    shown = subprocess.run([command, "train", "--help"], capture_output=True, text=True,
                           check=True).stdout
    return parse_profiles(shown)


def parse_profiles(shown):
    found = re.search(r"--profile NAME.*?\(([\w\s|-]+);", shown, re.DOTALL)
    if not found:
        raise Failed("no list of profiles in `wordtide train --help`")
    return "".join(found[1].split()).split("|")


def our_systems(command, entries, epochs=(1,)):
    """The systems of a list such as ["default", "fast --window 5", "batch"]. Unknown
    profiles are reported and left out."""
    known = profiles_of(command)
    for entry in entries:
        profile, *options = entry.split()
        if profile == BATCH:
            for number in epochs:
                yield wordtide(command, entry, number, "--batch", "--epochs", str(number),
                               *options)
        elif profile in known:
            yield wordtide(command, entry, None, "--profile", profile, *options)
        else:
            say(f"skipped: wordtide has no profile {profile}")


def wordtide(command, entry, epochs, *options):
    line = ["{program}", "train", "{text}", "-o", "{out}", "--threads", "1", "--seed", "{seed}",
            *options]
    return System(f"wordtide {entry}", WORDTIDE, epochs, line, command)


# -- other trainers --------------------------------------------------------------------


def fasttext(epochs, ngrams):
    line = ["fasttext", "skipgram", "-input", "{text}", "-output", "{out}", "-epoch",
            str(epochs), "-thread", "1", "-seed", "{seed}", "-verbose", "0"]
    if not ngrams:
        return System("fastText, no n-grams", FASTTEXT, epochs, [*line, "-maxn", "0"])
    return System("fastText", FASTTEXT, epochs, line,
                  unseen=["fasttext", "print-word-vectors", "{out}.bin"])


def gensim(epochs, kind):
    name = "gensim FastText" if kind == "FastText" else "gensim word2vec"
    return System(name, GENSIM, epochs, [gensim_python(), "-c", GENSIM_SCRIPT, kind, "{text}",
                                         "{out}", str(epochs), "{seed}", "{words}"])


def word2vec(epochs, path):
    """With one thread, word2vec.c ends after its first epoch (DECISIONS 45). So it reads the
    text `epochs` times in one: words must occur that many times more often, and everything
    else, such as the decay of its rate, is as in that many epochs. It has no seed."""
    return System("word2vec.c", WORD2VEC, epochs, [
        "{program}", "-train", "{repeated}", "-output", "{out}", "-cbow", "0", "-iter", "1",
        "-threads", "1", "-min-count", str(5 * epochs), "-binary", "1"], path)


def gensim_python():
    return PYTHON if os.access(PYTHON, os.X_OK) else "python3"


def has_gensim():
    probe = [gensim_python(), "-c", "import gensim"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def parse_rival(text):
    """NAME=COMMAND, a command for the shell."""
    name, _, line = text.partition("=")
    if not name or not line:
        raise Failed(f"--rival {text}: not NAME=COMMAND")
    places = sorted(set(re.findall(r"\{(text|out|seed|words)\}", line)))
    for number, place in enumerate(places, 1):
        line = line.replace("{%s}" % place, f'"${number}"')
    return System(name, OTHER, None,
                  ["sh", "-c", line, "sh", *("{%s}" % place for place in places)])


def installed():
    """Functions of a number of epochs that return the systems installed here; the others
    are reported."""
    makers = []
    if shutil.which("fasttext"):
        makers += [lambda number: fasttext(number, False), lambda number: fasttext(number, True)]
    else:
        say("skipped: fasttext is not installed")
    if has_gensim():
        makers += [lambda number: gensim(number, "Word2Vec"),
                   lambda number: gensim(number, "FastText")]
    else:
        say("skipped: gensim is not installed (python3-gensim)")
    return makers


def find_rivals(options, epochs):
    makers = [] if options.alone else installed()
    if options.word2vec and os.access(options.word2vec, os.X_OK):
        path = os.path.abspath(options.word2vec)
        makers.append(lambda number: word2vec(number, path))
    elif options.word2vec:
        say(f"skipped: no program {options.word2vec}")
    elif not options.alone:
        say("skipped: word2vec.c (--word2vec PATH)")
    return [*(make(number) for number in epochs for make in makers), *options.rival]


def rival_arguments(parser):
    parser.add_argument("--word2vec", metavar="PATH", help="a compiled word2vec.c")
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=COMMAND",
                        type=parse_rival, help="another trainer: a shell command with {text}, "
                        "{out} and, if it has one, {seed}")
    parser.add_argument("--alone", action="store_true",
                        help="no other trainers but those of --word2vec and --rival")
