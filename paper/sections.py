"""The sections of the page, each from what was measured to HTML."""
import claims
import figures
import page
from plan import COUNTED, epochs_text


def claims_section(found):
    rows = [[(row.text, "words"), (row.paper_says, "words"), (row.rule, "words"),
             *(row.values[p] for p in claims.SHOWN),
             (row.verdict, row.verdict.replace(" ", "-"))] for row in claims.judge(found)]
    head = ["claim", "the paper", "holds if", *(f"profile {p}" for p in claims.SHOWN),
            "verdict"]
    return page.section(
        "claims", "The paper's claims",
        page.table(head, rows, name="claims-table", kind="cards"),
        page.paragraph(
            "The verdict is about the paper's method: profile <code>paper</code> is its "
            "Algorithm 2 to the letter, <code>athena</code> what its released program does; "
            "the version that made its figures lies between them. A claim <b>holds</b> for "
            "both, <b>partly</b> for one, or <b>fails</b>. The default is there to be "
            "compared. The paper has words where we need numbers; the limits are ours."),
        page.paragraph(
            "Cosines are compared with two batch models of the same K: the word2vec of the "
            "paper's program, which its figures were made with, and word2vec as it is known. "
            "Which bands have 0.6 and which 0.85 of their pairs undefined the paper does not "
            "say; this is our reading. Counts are of every word, which profile "
            "<code>paper</code> does not count. Time is CPU time of the whole process at "
            f"K = {found.plan.main_k:,}; the paper speaks of the main loop, and its program "
            "and Google's were different code, here both share theirs."))


def counts_section(found):
    plan, parts = found.plan, []
    clouds = {k: {way: figures.count_points(plan.store.path(plan.counts[k, way], "tsv"), k)
                  for way in COUNTED} for k in plan.ks}
    types = found.counted(plan.ks[0], "plain")["types"]
    for place, k in enumerate(plan.ks):
        parts.append(figures.counts_figure(f"figure-1-{k}", panel_number(1, place), k, types,
                                           clouds[k]))
    parts.append(figures.held_figure("figure-2", "2", plan.main_k, types,
                                     clouds[plan.main_k]))
    parts += [summary_of_counts(found), page.more("By rank", bands_of_counts(found))]
    return page.section("counts", "Counts", *parts)


def panel_number(figure, place):
    """1a, 1b and so on; no letters after z."""
    return f"{figure}{chr(ord('a') + place)}" if place < 26 else str(figure)


def summary_of_counts(found):
    head = ["K", "vocabulary", "smallest counter", "top K dropped", "types dropped",
            "words of the text dropped", "mean error", "of words held"]
    rows = []
    for k in found.plan.ks:
        for way in COUNTED:
            c = found.counted(k, way)
            rows.append([f"{k:,}", {"plain": "plain", "gate": "gated"}[way],
                         page.whole(c["minimum"]),
                         *(page.fraction(c[name]) for name in (
                             "dropped_top", "dropped_types", "dropped_tokens", "mean_error",
                             "mean_error_held"))])
    return page.table(head, rows, "Shares, and relative errors over the true top K")


def bands_of_counts(found):
    head = ["K", "rank", "ranks", "dropped, plain", "gated", "median error, plain", "gated",
            "held only, plain", "gated"]
    rows = []
    for k in found.plan.ks:
        plain, gate = (found.counted(k, way)["bands"] for way in ("plain", "gate"))
        for a, b in zip(plain, gate):
            rows.append([f"{k:,}", page.whole(a["rank"]), f"{a['from']:,}–{a['to']:,}",
                         page.fraction(a["dropped"]), page.fraction(b["dropped"]),
                         *(page.fraction(c[name]) for name in (
                             "median_error", "median_error_held") for c in (a, b))])
    return page.table(head, rows)


def quality_name(plan):
    return "mean score" if plan.sets else "overlap of neighbors"


def batch_points(found):
    """[(epochs, CPU seconds, quality)] at the main K, of those that have a quality: the
    model that it is measured against has none."""
    models = found.plan.batches[found.plan.main_k]
    points = [(e, found.seconds(m), found.quality(m)["mean"]) for e, m in models.items()]
    return [point for point in points if point[2] is not None]


def stream_section(found):
    plan = found.plan
    traces = {p: found.trace(p) for p in plan.traces}
    what = "mean" if plan.sets else "overlap"
    batches = batch_points(found)
    ends = [batches[0], batches[-1]] if len(batches) > 1 else batches
    levels = [(f"batch, {epochs_text(e)}", q) for e, _, q in ends]
    number_of = 3 + len(plan.ks)
    return "\n".join([
        page.section(
            "stream", "Along the stream",
            figures.stream_quality(
                "figure-stream", number_of, traces, what, levels, quality_name(plan),
                f"K = {plan.main_k:,}. Dashed: batch word2vec, which has read all of the "
                "text before it answers."),
            figures.churn_figure(
                "figure-churn", number_of + 1, traces,
                f"K = {plan.main_k:,}, logarithmic; a step without any is not drawn. "
                "Young is a word that is ejected within 1,000 words of its coming, perhaps "
                "before its sentence was learned, as the paper feared. Profiles that choose "
                "the same words have the same line, and the last one is seen."),
            page.more("All steps", trace_table(plan, traces))),
        page.section(
            "time", "Quality against time",
            figures.time_figure(
                "figure-time", number_of + 2, traces, what, batches, quality_name(plan),
                f"K = {plan.main_k:,}. A one-pass profile is a curve: its vectors can be "
                "asked for at any moment. Batch word2vec is a point for each number of "
                "epochs, each a training of its own; its time has the pass that counts "
                "words and the writing of the model, which curves have not.")),
    ])


def trace_table(plan, traces):
    names = ["tokens", "vocabulary", "admitted", "evicted", "evicted_young", "rejected"]
    head = ["profile", "words", "CPU s", "held", "admitted", "ejected", "ejected young",
            "turned away", "loss", quality_name(plan)]
    rows = [[p, page.whole(s[names[0]]), page.fraction(s["cpu_seconds"], 1),
             *(page.whole(s[n]) for n in names[1:]), page.fraction(s["loss"], 3),
             page.fraction(s["mean" if plan.sets else "overlap"])]
            for p, steps in traces.items() for s in steps]
    return page.table(head, rows)


def models_section(found):
    plan = found.plan
    names = ["mean", "strict", "known", *plan.sets.names] if plan.sets else ["mean"]
    head = ["model", "K", "words", "CPU s", "k words / CPU s", "peak MB",
            *(names if plan.sets else [quality_name(plan)])]
    rows = []
    for model in plan.models():
        info, cost = plan.infos[model], plan.costs[model]
        k = int(info["capacity"])
        quality = found.quality(model)
        rows.append([
            plan.titles[model], f"{k:,}", page.whole(info["words"]),
            page.fraction(cost["cpu_seconds"], 1),
            page.fraction(info["tokens"] / max(cost["cpu_seconds"], 1e-3) / 1000, 0),
            page.fraction(cost["peak_bytes"] / 1e6, 0),
            *(page.fraction(quality.get(name), 3) for name in names)])
    return page.section(
        "models", "All models", page.table(head, rows, name="models-table"),
        page.paragraph("“known” is the share of pairs whose words have vectors: means of "
                       "models that know different pairs do not compare, “strict” does, where "
                       "unknown words have a cosine of 0 and questions with them count as "
                       "wrong. Time is CPU time of "
                       "the whole process, once; expect a tenth of noise on a quiet machine. "
                       "word2vec is <code>train --batch --profile word2vec --min-count 1"
                       "</code>; the paper's has <code>--init uniform --optimizer constant</code> "
                       "as well."))
