"""The section on agreement: cosines and neighbors of models beside those of word2vec."""
import figures
import page
from claims import defined, mean
from plan import DRAWN, PROFILES, REFERENCES, band_text, epochs_text


def agreement_section(found):
    plan = found.plan
    shown = {k: [p for p in (*PROFILES, "twin") if (k, p, DRAWN) in plan.agreements]
             for k in plan.ks}
    clouds = {(k, p): figures.cell_points(
        plan.store.path(plan.agreements[k, p, DRAWN], "tsv"))
              for k in plan.ks for p in shown[k]}
    axis = figures.cosine_axis(clouds.values())
    parts = []
    for place, k in enumerate(plan.ks):
        parts += cut_bands_note(plan, k)
        if shown[k]:
            parts.append(figures.agreement_figure(
                f"figure-{3 + place}", str(3 + place), k,
                {p: (found.agreement(k, p, DRAWN), clouds[k, p]) for p in shown[k]}, axis))
    parts += [
        "<h3>Correlations</h3>",
        page.paragraph("Three references: the word2vec of the paper's program (one epoch, "
                       "first vectors ±0.5, a rate that does not fall), which its figures "
                       "were made with, word2vec as it is known of one epoch, and of "
                       f"{plan.epochs}. “The paper's word2vec again” has another seed and "
                       "says how far two runs of one program agree."),
        agreement_summary(found), page.more("All cells", correlation_table(found)),
        "<h3>Neighbors in common</h3>",
        page.paragraph("Share of common words among the 10 nearest in a model and in the "
                       "paper's word2vec, by band of ranks: a high correlation may hide that "
                       "neighbors change. In parentheses, how many words of the band are "
                       "missing."),
        neighbor_table(found, "own"),
        page.more(f"The same against {epochs_text(1)}", neighbor_table(found, "one")),
        page.more(f"The same against {epochs_text(plan.epochs)}",
                  neighbor_table(found, "several"))]
    return page.section("agreement", "Agreement with word2vec", *parts)


def cut_bands_note(plan, k):
    kept = plan.known_bands(k)
    if kept == plan.bands:
        return []
    words = plan.infos[plan.reference(k)]["words"]
    kept = ", ".join(f"{a}–{b}" for a, b in kept) or "none"
    return [page.paragraph(f"K = {k:,}: word2vec has {words:,} words here, so the bands of "
                           f"ranks that remain are: {kept}.", "note")]


def agreements(found):
    """(K, profile, its agreement with each reference)."""
    return [(k, profile, [found.agreed(k, profile, r) for r in REFERENCES])
            for k, profile, reference in found.plan.agreements if reference == DRAWN]


def reference_names(plan):
    return ["the paper's", epochs_text(1), epochs_text(plan.epochs)]


def agreement_summary(found):
    head = ["K", "profile", "undefined", *(f"{what}, {name}" for what in ("r", "bias")
                                           for name in reference_names(found.plan))]
    rows = [[f"{k:,}", figures.NAMES.get(profile, profile),
             page.fraction(mean(defined(runs[0]["cells"], "undefined")), 2),
             *(page.fraction(mean(defined(run["cells"], what)), 2)
               for what in ("pearson", "bias") for run in runs)]
            for k, profile, runs in agreements(found)]
    return page.table(head, rows, "Means over all pairs of bands", name="agreement-table",
                      kind="left2")


def correlation_table(found):
    head = ["K", "bands", "profile", "pairs", "undefined",
            *(f"{what}, {name}" for what in ("r", "bias")
              for name in reference_names(found.plan))]
    rows = []
    for k, profile, runs in agreements(found):
        for cells in zip(*(run["cells"] for run in runs)):
            first = cells[0]
            rows.append([f"{k:,}", f"{first['first']} × {first['second']}",
                         figures.NAMES.get(profile, profile), page.whole(first["pairs"]),
                         page.fraction(first["undefined"]),
                         *(page.fraction(cell[what]) for what in ("pearson", "bias")
                           for cell in cells)])
    return page.table(head, rows, kind="left3")


def neighbor_table(found, reference):
    """A row for each model, a column for each band, which may be cut at its end."""
    rows = []
    for k, profile, runs in agreements(found):
        run = runs[REFERENCES.index(reference)]
        known = {near["band"].partition("-")[0]: near for near in run["neighbours"]}
        rows.append([f"{k:,}", figures.NAMES.get(profile, profile),
                     *(neighbor_cell(known.get(str(first))) for first, _ in
                       found.plan.bands)])
    names = [band_text(band).replace("-", "–") for band in found.plan.bands]
    return page.table(["K", "profile", *names], rows, kind="left2")


def neighbor_cell(band):
    if not band:
        return "–"
    missing = f" ({band['missing']})" if band["missing"] else ""
    return page.fraction(band["overlap"], 2) + missing
