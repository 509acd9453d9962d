"""The help fits into 80 columns, --help-all is complete, and wrong usage is answered in one line."""

import re

import pytest

from conftest import wordtide

COMMANDS = (
    "train demo nearest similarity analogy vector embed words info export import bench check"
).split()


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"], ["-h"], ["--help-all"]])
def test_overview_lists_every_command_and_has_examples(arguments):
    done = wordtide(*arguments)
    assert done.returncode == 0 and done.stderr == ""
    for command in COMMANDS:
        assert re.search(rf"^  {command}\b", done.stdout, re.M)
    examples = done.stdout.split("Examples:")[1]
    assert len(re.findall(r"^  wordtide ", examples, re.M)) == 3


@pytest.mark.parametrize("command", [*COMMANDS, "nn"])
def test_help_of_a_command_fits_the_screen_and_has_examples(command):
    done = wordtide(command, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("usage: wordtide ")
    assert "\nExamples:\n" in done.stdout and "\nOptions:\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout == wordtide("help", command).stdout
    assert done.stdout == wordtide(command, "-h").stdout


@pytest.mark.parametrize("what", "train fit list predict eval".split())
def test_help_of_labels_fits_the_screen_and_has_examples(what):
    done = wordtide("labels", what, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"usage: wordtide labels {what} ")
    assert f"\n  wordtide labels {what} " in done.stdout.split("\nExamples:\n")[1]
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert re.search(rf"^  {what} ", wordtide("labels", "--help").stdout, re.M)
    assert wordtide("labels", "--help-all").stdout == wordtide("labels", "--help").stdout


def listed(*command, option="--help-all"):
    """The options and parameters that the help of a command lists."""
    return re.findall(r"^      --(\S+) ", wordtide(*command, option).stdout, re.M)


def parameters():
    shown = wordtide("info").stdout.split("\nparameters\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in shown.splitlines()]


def test_help_all_of_training_lists_every_parameter():
    names = parameters()
    assert len(names) > 10 and {"vocab", "dim", "labels", "classifier"} <= set(names)
    assert set(names) <= set(listed("labels", "train"))
    about_labels = {name for name in names if re.match("labels|label-(?!field)|classifier", name)}
    assert set(names) & set(listed("train")) == set(names) - about_labels


@pytest.mark.parametrize("command", [
    "train", "serve", "labels train", "labels fit", "labels eval", "import", "info", "bench",
    "eval counts", "eval trace", "eval drift", "eval periods"])
def test_help_shows_common_parameters_and_points_to_help_all(command):
    short, full = (wordtide(*command.split(), option) for option in ("--help", "--help-all"))
    assert short.returncode == full.returncode == 0 and short.stderr == full.stderr == ""
    common = set(parameters()) & set(listed(*command.split(), option="--help"))
    every = set(parameters()) & set(listed(*command.split()))
    assert len(common) <= 15 and common < every
    assert short.stdout.endswith(f"\n'wordtide {command} --help-all' shows all {len(every)} training parameters.\n")
    assert max(map(len, full.stdout.splitlines())) <= 80
    assert full.stdout.startswith(short.stdout.split("\nOptions:\n")[0])


def test_help_of_train_fits_on_two_screens():
    assert len(wordtide("train", "--help").stdout.splitlines()) <= 96
    assert {"vocab", "dim", "tokenizer", "window", "threads"} <= set(listed("train", option="--help"))
    assert {"spool-limit", "max-errors"} <= set(listed("train")) - set(listed("train", option="--help"))


def test_help_all_of_a_command_without_parameters_is_its_help():
    assert wordtide("words", "--help-all").stdout == wordtide("words", "--help").stdout != ""


def test_help_all_lists_what_a_command_takes_and_nothing_else():
    assert set(listed("labels", "fit")) & set(parameters()) == {
        name for name in parameters()
        if re.match("label-(top|each|refit|anchors)|classifier|threads", name)}
    assert {"frozen", "label-refit"} <= set(listed("labels", "eval"))
    assert not {"vocab", "labels", "label-memory"} & set(listed("labels", "eval"))


def test_version_is_one_line():
    done = wordtide("--version")
    assert re.fullmatch(r"wordtide \d+\.\d+\.\d+\S*\n", done.stdout)


WRONG = [
    (["wrods"], "wordtide: unknown command 'wrods'; did you mean words?"),
    (["zzzzzzzzzz"], "wordtide: unknown command 'zzzzzzzzzz'"),
    (["--wrong"], "wordtide: unknown option '--wrong'"),
    (["train", "--vocb", "7"], "wordtide: unknown option '--vocb'; did you mean --vocab?"),
    (["train", "--vocab"], "wordtide: --vocab needs a value"),
    (["train", "--quiet=1"], "wordtide: --quiet takes no value"),
    (["train"], "wordtide: no output file; give one with -o MODEL"),
    (["train", "-o", "-"], None),
    (["train", "-o", "x", "--dim", "0"], None),
    (["train", "-o", "x", "--dim", "lots"], None),
    (["train", "-o", "x", "--every", "5 parsecs"], None),
    (["nearest"], None),
    (["nearest", "m", "w", "-n", "0"], "wordtide: --count must be at least 1"),
    (["nearest", "m", "w", "-n", "x"], "wordtide: --count 'x' is not a whole number"),
    (["nearest", "m", "w", "-n", "18446744073709551616"],
     "wordtide: --count '18446744073709551616' is not a whole number"),
    (["nearest", "m", "w", "--vectors", "both"], None),
    (["similarity", "m", "one"], None),
    (["analogy", "m", "one", "two"], None),
    (["words", "m", "more"], "wordtide: unexpected argument 'more'"),
    (["info", "m", "--dim", "5"], None),
    (["bench", "nothing"], None),
    (["demo", "--tokens", "0"], None),
    (["train", "-o", "x", "--label-top", "5"],
     "wordtide: --label-top is a parameter of 'wordtide labels train'"),
    (["labels", "fit", "m", "--vocab", "5"],
     "wordtide: --vocab is a parameter of 'wordtide labels train'"),
    (["labels", "nothing"], "wordtide: unknown subcommand 'nothing'"),
]


@pytest.mark.parametrize("arguments, message", WRONG)
def test_wrong_usage_is_one_line_that_ends_with_a_hint(arguments, message):
    done = wordtide(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    complaint, hint = line.rsplit(" (", 1)
    assert complaint.startswith("wordtide: ") and re.fullmatch(r"see 'wordtide [a-z ]*--help'\)", hint)
    assert message in (None, complaint)


def test_options_are_accepted_in_every_spelling(tmp_path):
    spellings = [
        ["--dim", "7", "--vocab", "90"],
        ["--dim=7", "--vocab=90"],
        ["-dim", "7", "-vocab", "90"],
        ["-size", "7", "-vocab=90"],
        ["--vector_size", "7", "--vocab", "90"],
    ]
    reported = {wordtide("info", *spelling).stdout for spelling in spellings}
    assert len(reported) == 1 and re.search(r"^  dim +7$", reported.pop(), re.M)


def test_profile_is_applied_first_wherever_it_stands():
    first = wordtide("info", "--profile", "paper", "--window", "3").stdout
    last = wordtide("info", "--window", "3", "--profile", "paper").stdout
    assert first == last and re.search(r"^  window +3$", first, re.M)


def test_two_dashes_end_the_options(model):
    done = wordtide("nearest", model, "--", "-n")
    assert done.returncode == 1
    assert done.stderr.startswith("wordtide: '-n' is not in the vocabulary")


@pytest.mark.parametrize("former", [
    "--tokens space", "--tokens-version 1", "--rate constant", "--keep root", "--negatives pair",
    "--vocabulary exact", "--label tag --records json --text body", "--older 3"])
def test_options_of_version_0_1_still_work(tmp_path, former):
    present = former
    for old, new in {"--tokens ": "--tokenizer ", "--tokens-version": "--tokenizer-version", "--rate": "--optimizer",
                     "--keep": "--subsample", "--negatives": "--negative-sharing", "--vocabulary": "--sketch",
                     "--label ": "--label-field ", "--older": "--keep-checkpoints"}.items():
        present = present.replace(old, new)
    assert present != former
    models = []
    for options in former, present:
        model = tmp_path / f"{len(models)}.tide"
        text = '{"body":"tea and coffee"}\n' * 40 if "json" in former else "tea and coffee\n" * 40
        wordtide("train", "-", "-o", model, "-q", "--dim", "4", "--vocab", "10", *options.split(), input=text)
        models.append(model.read_bytes())
    assert models[0] == models[1]
    gone = {word[2:] for word in former.split() if word.startswith("--")} - {word[2:] for word in present.split()}
    assert gone and not gone & set(listed("train"))


@pytest.mark.parametrize("former, present", [
    (["nearest", "MODEL", "tea", "--negative", "and"], ["nearest", "MODEL", "tea", "--subtract", "and"]),
    (["nearest", "MODEL", "tea", "--among", "2"], ["nearest", "MODEL", "tea", "--top", "2"]),
    (["nearest", "MODEL", "tea", "--no-centre"], ["nearest", "MODEL", "tea", "--no-center"]),
    (["vector", "MODEL", "tea", "--centre"], ["vector", "MODEL", "tea", "--center"])])
def test_query_options_of_version_0_1_still_work(tmp_path, former, present):
    model = tmp_path / "m.tide"
    wordtide("train", "-", "-o", model, "-q", "--dim", "4", input="tea and coffee\n" * 40)
    said = [wordtide(*(model if word == "MODEL" else word for word in line)).stdout for line in (former, present)]
    assert said[0] == said[1] != ""
