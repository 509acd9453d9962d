"""The sections of the page: tables, what the live vocabulary gains, and the paper."""
from hashtag_document import Bullets, Facts, Heading, Section, Table, Text
from hashtag_figures import time_figure
from hashtag_findings import AGE_NAMES, CHANCE, NOT_FOUND, verdict
from hashtag_plan import FIXED, PLAINER, REFRESHED
from page import fraction, whole

COLUMNS = ["precision", "recall", "F1", "P@1", "P@5", "R@5", "unknown words"]
PAPER = [("stream-cnn", 0.40, 0.49, 0.42), ("static-cnn", 0.40, 0.52, 0.43)]
KNOWN_AGES = [age for age in AGE_NAMES if age != NOT_FOUND]
COLORS = {"better": "holds", "worse": "fails"}

# Classifiers of two that are compared tell the same labels, so that both are judged by the
# same posts.
BY_AGE = ("stream", "static")
PAIRS = [BY_AGE, ("stream", "frozen"), ("stream", "stream, no anchors"),
         ("stream, refreshed", "static, refreshed")]


def shown(found, digits=3):
    """0.412 ± 0.003"""
    if found is None:
        return "–"
    spread = "" if found.spread is None else f" ± {fraction(found.spread, digits)}"
    return fraction(found.mean, digits) + spread


def points(gain):
    return fraction(100 * gain, 1, "+")


# -- one split -------------------------------------------------------------------------


def models_section(found):
    return Section("models", "The models", [Facts(
        [(model.name, model.about) for model in found.plan.models])])


def scores_table(found, split):
    rows = [[model.name, *map(shown, found.row(split, model.name))]
            for model in found.plan.models]
    return Table(f"scores-{split.name}", "Of all posts of the test that have a label which "
                 "is told at the time; precision, recall and F1 are weighted means over "
                 "labels.",
                 ["model", *COLUMNS], rows)


def ages_table(found, split, panel, title):
    """None where no model of the panel was run."""
    models = [m.name for m in found.plan.models if m.panel == panel]
    if not models:
        return None
    rows = []
    for age in AGE_NAMES:
        labels, posts = found.size_of_age(split, models[0], age)
        if labels:
            rows.append([age, whole(labels), whole(posts),
                         *(shown(found.f1_of_age(split, name, age)) for name in models)])
    return Table(f"ages-{panel}-{split.name}", f"Weighted F1 by age of the label, {title}.",
                 ["age of the label", "labels", "posts", *models], rows)


def how_often_anew(found, split):
    if not any(model.panel == REFRESHED for model in found.plan.models):
        return ""
    return f" A classifier that learns anew does so every {found.plan.refit(split):,} posts."


def split_section(found, split):
    parts, survey = found.plan.parts[split], found.survey
    tables = [ages_table(found, split, FIXED, "the classifier stays"),
              ages_table(found, split, REFRESHED, "the classifier learns anew"),
              ages_table(found, split, PLAINER, "plainer classifiers")]
    return Section(f"split-{split.name}", f"Split {split.name}", [
        Text(f"Learned from {parts.posts:,} posts, from {split.train.begin} to before "
             f"{split.train.end}; tested on {parts.tested:,}, from {split.test.begin} to "
             f"before {split.test.end}.{how_often_anew(found, split)}"),
        scores_table(found, split), time_figure(found, split),
        *(table for table in tables if table),
        Text("The age of a label is the time from its first post in the whole stream to the "
             f"beginning of the test; none can be older than the stream, which begins in "
             f"{survey.first[:7]}. Labels that are born in the test can be told only by a "
             "classifier that learns anew.")])


# -- gains -----------------------------------------------------------------------------


def compared(found, split):
    """The pairs of which both were run."""
    return [pair for pair in PAIRS if found.has(split, *pair)]


def gain_cell(found, split, pair, ask, *where):
    one, other = (ask(split, model, *where) for model in pair)
    if one is None or other is None:
        return "–"
    said = verdict(one, other)
    gain = points(one.mean - other.mean)
    return (f"{gain} {said}", COLORS[said]) if said in COLORS else (
        f"{gain} level" if said else gain)


def gains_table(found, split, pairs):
    halves = found.halves(split)
    rows = [[" − ".join(pair),
             *(gain_cell(found, split, pair, ask)
               for ask in (found.f1, found.precision_at_1, found.recall_at_5)),
             *(gain_cell(found, split, pair, found.f1_of_periods, first, last)
               for _, first, last in halves)] for pair in pairs]
    return Table(f"gains-{split.name}", "Differences in points, of weighted F1, P@1 and R@5, "
                 "and of F1 in the two halves of the test.",
                 ["models", "F1", "P@1", "R@5", *(f"F1, {name}" for name, _, _ in halves)],
                 rows)


def gains_by_age(found, split):
    rows = [[age, gain_cell(found, split, BY_AGE, found.f1_of_age, age)]
            for age in KNOWN_AGES]
    return Table(f"gains-ages-{split.name}", "Differences in points of weighted F1, by age "
                 "of the label.", ["age of the label", " − ".join(BY_AGE)],
                 [row for row in rows if row[1] != "–"])


def sentence(found, split, one, other):
    """What the figures say of two models, whatever that is."""
    a, b = found.f1(split, one), found.f1(split, other)
    if a is None or b is None:
        return f"{one} and {other} do not compare: no post had a label that was told."
    gain = a.mean - b.mean
    said = {
        "better": f"is {fraction(100 * gain, 1)} points better than {other}",
        "worse": f"is {fraction(-100 * gain, 1)} points worse than {other}",
        "level": f"is level with {other}",
        None: f"has {points(gain)} points against {other}, which one seed cannot judge",
    }[verdict(a, b)]
    ages = by_age(found, split, one, other) if (one, other) == BY_AGE else ""
    return f"{one} {said} (weighted F1 {shown(a)} against {shown(b)}).{ages}"


def by_age(found, split, one, other):
    """For which labels it is so."""
    ages = {"better": [], "worse": [], "level": []}
    for age in KNOWN_AGES:
        said = verdict(found.f1_of_age(split, one, age), found.f1_of_age(split, other, age))
        if said:
            ages[said].append(age)
    parts = [f"{said} at {', '.join(names)}" for said, names in ages.items() if names]
    return f" By age of the label: {'; '.join(parts)}." if parts else ""


def noise(seeds):
    if seeds == 1:
        return "There was one seed, so the spread is not known and no difference is judged."
    return (f"Figures are means over {seeds} seeds with their spread, the sample standard "
            f"deviation. A difference counts when it is more than {CHANCE} times the larger of "
            "the two spreads; otherwise both are level.")


def gains_section(found):
    parts = [Text(noise(len(found.plan.seeds)))]
    if not any(compared(found, split) for split in found.plan.splits):
        parts = [Text("No two models that can be compared were run.")]
    for split in found.plan.splits:
        pairs = compared(found, split)
        if pairs:
            parts += [Heading(f"Split {split.name}"),
                      Bullets([sentence(found, split, *pair) for pair in pairs]),
                      gains_table(found, split, pairs)]
        if BY_AGE in pairs:
            parts.append(gains_by_age(found, split))
    return Section("gains", "What the live vocabulary gains and loses", parts)


# -- the paper -------------------------------------------------------------------------


def paper_section(found):
    rows = [["the paper", name, *(f"{value:.2f}" for value in scores)]
            for name, *scores in PAPER]
    rows += [[f"this stream, split {split.name}", name,
              *map(shown, found.row(split, name)[:3])]
             for split in found.plan.splits
             for name in ("stream", "athena", "paper", "static")
             if found.has(split, name)]
    return Section("paper", "Beside the paper", [
        Text("The paper's figures are of another corpus, a sample of tweets of January and "
             "February 2016, with one run of each model. Values do not compare with those of "
             "this stream; only which of two is ahead, and by how much, does.", note=True),
        Table("paper-table", "Weighted precision, recall and F1.",
              ["corpus", "model", *COLUMNS[:3]], rows, texts=2)])


def sections(found):
    return [gains_section(found),
            *(split_section(found, split) for split in found.plan.splits),
            paper_section(found), models_section(found)]
