"""The sections of the report: what was measured, as text, tables and figures."""
import claims
import figures
from lab import plots
from lab.sets import mean
from lab.tables import MISSING, fraction, whole
from plan import COUNTED, DRAWN, PROFILES, REFERENCES, band_text, epochs_text


def claims_section(document, found):
    document.section("claims", "The paper's claims")
    document.table(
        ["claim", "the paper", "holds if", *(f"profile {p}" for p in claims.SHOWN), "verdict"],
        [[row.text, row.paper_says, row.rule, *(row.values[p] for p in claims.SHOWN),
          row.verdict] for row in claims.check_all(found)], texts=3, name="claims-table")
    document.text(
        "The verdict is about the paper's method: profile `paper` is its Algorithm 2 to the "
        "letter, `athena` what its released program does; the version that made its figures "
        "lies between them. A claim **holds** for both, **partly** for one, or **fails**. The "
        "default is shown for comparison. Where the paper has words, the limits are ours.")
    document.text(
        "Cosines are compared with two batch models of the same K: the word2vec of the paper's "
        "program, with which its figures were made, and ordinary word2vec. The paper does not "
        "say which bands have 0.6 and which 0.85 of their pairs undefined; this is our reading. "
        "Counts are of every word, which profile `paper` does not count. Time is CPU time of "
        f"the whole process at K = {found.plan.main_k:,}; the paper speaks of the main loop, "
        "and its program and Google's were different code, while here both share theirs.")


# -- counts --------------------------------------------------------------------------------


def counts_section(document, found):
    plan = found.plan
    document.section("counts", "Counts")
    types = found.counted(plan.ks[0], "plain")["types"]
    for index, k in enumerate(plan.ks):
        clouds, size = count_clouds(plan, k), min(k, types)
        document.figure(
            f"figure-1-{k}", f"Figure {letter(1, index)}: error of counts, K = {k:,}",
            plots.svg(figures.count_panels(clouds, size, ("log", "linear"))),
            f"Relative error of a word's count against its true rank: the {size:,} most "
            f"frequent words, of which up to {figures.COUNT_POINTS:,} are drawn. A dropped word "
            "is given the smallest counter, as in the paper. Below by the rank itself, as in "
            "the paper.")
    held = {way: [point for point in points if point[2]]
            for way, points in count_clouds(plan, plan.main_k).items()}
    document.figure(
        "figure-2", f"Figure 2: the same without dropped words, K = {plan.main_k:,}",
        plots.svg(figures.count_panels(held, min(plan.main_k, types), ["linear"])),
        "The lines are words of the same true frequency, whose errors have the same "
        "denominator.")
    document.table(
        ["K", "vocabulary", "smallest counter", "top K dropped", "types dropped",
         "words of the text dropped", "mean error", "of words held"],
        [[f"{k:,}", {"plain": "plain", "gate": "gated"}[way], *count_cells(found, k, way)]
         for k in plan.ks for way in COUNTED],
        "Shares, and relative errors over the true top K", texts=2)


def letter(figure, index):
    """1a, 1b and so on; no letters after z."""
    return f"{figure}{chr(ord('a') + index)}" if index < 26 else str(figure)


def count_clouds(plan, k):
    return {way: figures.count_points(plan.store.path(plan.counts[k, way], "tsv"), k)
            for way in COUNTED}


def count_cells(found, k, way):
    counted = found.counted(k, way)
    return [whole(counted["minimum"]), *(fraction(counted[name]) for name in (
        "dropped_top", "dropped_types", "dropped_tokens", "mean_error", "mean_error_held"))]


# -- agreement -----------------------------------------------------------------------------


def agreement_section(document, found):
    plan = found.plan
    document.section("agreement", "Agreement with word2vec")
    for index, k in enumerate(plan.ks):
        note_cut_bands(document, plan, k)
        for profile in (*PROFILES, "twin"):
            if (k, profile, DRAWN) in plan.agreements:
                agreement_figure(document, found, 3 + index, k, profile)
    document.heading("Correlations")
    document.text(
        "There are three references: the word2vec of the paper's program (one epoch, initial "
        "vectors ±0.5, a constant learning rate), with which its figures were made, ordinary "
        f"word2vec of one epoch, and of {plan.epochs}. “The paper's word2vec again” has "
        "another seed and shows how far two runs of one program agree.")
    names = ["the paper's", epochs_text(1), epochs_text(plan.epochs)]
    document.table(
        ["K", "profile", "undefined", *(f"{what}, {name}" for what in ("r", "bias")
                                        for name in names)],
        [[f"{k:,}", figures.NAMES.get(profile, profile),
          fraction(mean(values(runs[0]["cells"], "undefined")), 2),
          *(fraction(mean(values(run["cells"], what)), 2)
            for what in ("pearson", "bias") for run in runs)]
         for k, profile, runs in agreements(found)],
        "Means over all pairs of bands", texts=2, name="agreement-table")
    document.heading("Neighbors in common")
    document.text("The share of common words among the 10 nearest in a model and in a "
                  "reference, by band of ranks. In parentheses, how many words of the band are "
                  "missing.")
    for index, name in enumerate(names):
        document.table(
            ["K", "profile", *(band_text(band).replace("-", "–") for band in plan.bands)],
            [[f"{k:,}", figures.NAMES.get(profile, profile),
              *neighbor_cells(runs[index], plan.bands)]
             for k, profile, runs in agreements(found)], f"word2vec, {name}", texts=2,
            name=f"neighbors-{REFERENCES[index]}")


def note_cut_bands(document, plan, k):
    kept = plan.known_bands(k)
    if kept != plan.bands:
        words = plan.infos[plan.reference(k)]["words"]
        kept = ", ".join(f"{a}–{b}" for a, b in kept) or "none"
        document.note(f"K = {k:,}: word2vec has {words:,} words here, so the bands of ranks "
                      f"that remain are: {kept}.")


def agreement_figure(document, found, number, k, profile):
    name = figures.NAMES.get(profile, f"profile {profile}")
    points = found.store.path(found.plan.agreements[k, profile, DRAWN], "tsv")
    drawn = figures.agreement(profile, found.agreement(k, profile, DRAWN),
                              figures.cell_points(points))
    document.figure(
        f"figure-{number}-{profile}",
        f"Figure {number}: cosines in {name} and in the paper's word2vec, K = {k:,}",
        plots.svg(drawn),
        "A point is a pair of different words, one from each band of ranks. r is Pearson's "
        "correlation over all pairs that are defined, bias the mean difference, undefined "
        f"the share of pairs with a dropped word. At most {figures.CELL_POINTS:,} pairs are drawn; "
        "the dashed line is equality.")


def agreements(found):
    """(K, profile, its agreement with each reference)"""
    return [(k, profile, [found.agreed(k, profile, r) for r in REFERENCES])
            for k, profile, reference in found.plan.agreements if reference == DRAWN]


def values(cells, what):
    return [cell[what] for cell in cells]


def neighbor_cells(run, bands):
    """A cell for each band, which may be cut at its end."""
    known = {near["band"].partition("-")[0]: near for near in run["neighbours"]}
    for first, _ in bands:
        near = known.get(str(first))
        missing = f" ({near['missing']})" if near and near["missing"] else ""
        yield fraction(near["overlap"], 2) + missing if near else MISSING


# -- along the stream, and time ---------------------------------------------------------------


def stream_section(document, found):
    plan = found.plan
    traces = {p: found.trace(p) for p in plan.traces}
    what, name = ("mean", "mean score") if plan.sets else ("overlap", "overlap of neighbors")
    batches = batch_points(found)
    ends = [batches[0], batches[-1]] if len(batches) > 1 else batches
    levels = [(f"batch, {epochs_text(e)}", q) for e, _, q in ends]
    number = 3 + len(plan.ks)
    document.section("stream", "Along the stream")
    document.figure(
        "figure-stream", f"Figure {number}: quality along the stream",
        plots.svg(figures.stream_quality(traces, what, levels, name)),
        f"K = {plan.main_k:,}. The horizontal lines are batch word2vec, which has read all of "
        "the text before it can be queried.")
    document.figure(
        "figure-churn", f"Figure {number + 1}: words that come and go",
        plots.svg(figures.churn(traces)),
        f"K = {plan.main_k:,}, logarithmic; a step without any is not drawn. A word is evicted "
        "young within 1,000 words of its admission, perhaps before its sentence was trained, "
        "as the paper feared. Lines of profiles with the same vocabulary coincide.")
    document.section("time", "Quality against time")
    document.figure(
        "figure-time", f"Figure {number + 2}: quality against time",
        plots.svg(figures.time(traces, what, batches, name)),
        f"K = {plan.main_k:,}. A one-pass profile is a curve: its vectors can be queried at any "
        "moment. Batch word2vec is a point for each number of epochs, each of them a training "
        "of its own; its time includes the pass that counts words and writing the model, which "
        "the curves do not.")


def batch_points(found):
    """[(epochs, CPU seconds, quality)] at the main K, of the models that have a quality: that
    of the reference is not defined."""
    models = found.plan.batches[found.plan.main_k]
    points = [(e, found.seconds(m), found.quality(m)["mean"]) for e, m in models.items()]
    return [point for point in points if point[2] is not None]


def models_section(document, found):
    plan = found.plan
    names = ["mean", "strict", "known", *plan.sets.names] if plan.sets else ["mean"]
    rows = []
    for model in plan.models():
        info, cost, quality = plan.infos[model], plan.costs[model], found.quality(model)
        rows.append([
            plan.titles[model], f"{info['capacity']:,}", whole(info["words"]),
            fraction(cost["cpu_seconds"], 1),
            fraction(info["tokens"] / max(cost["cpu_seconds"], 1e-3) / 1000, 0),
            fraction(cost["peak_bytes"] / 1e6, 0),
            *(fraction(quality.get(name), 3) for name in names)])
    document.section("models", "All models")
    document.table(["model", "K", "words", "CPU s", "k words / CPU s", "peak MB",
                    *(names if plan.sets else ["overlap of neighbors"])], rows,
                   name="models-table")
    document.text(
        "“known” is the share of pairs in which both words have a vector. Compare means only "
        "where it is the same; “strict” can always be compared: unknown words have a cosine of "
        "0 there, and questions with them count as wrong. Time is CPU time of the whole "
        "process, once; expect a tenth of noise on a quiet machine. word2vec is `train --batch "
        "--profile word2vec --min-count 1`; the paper's also has `--init uniform --optimizer "
        "constant`.")
