"""What the report needs: which models are trained, and how they are evaluated.

For every K the four streaming profiles read the text once. They are compared with three
references, all of them batch SGNS with the true top K words (`train --batch`):

  own      one epoch of the word2vec in the paper's own program, with which its figures
           were made: initial vectors of +-0.5 and a learning rate that does not fall;
  one      one epoch of ordinary word2vec;
  several  as many epochs of it as are common.

"twin" is `own` with another seed: how far two runs of the same program agree. A system
whose vectors are less noisy may agree more. References have another seed than streams,
because a word has the same initial vector in all models of a seed.

Profile paper does not count the words that subsampling drops, so its counts are not those
of the paper's first experiment, which counts every word. Profile athena does that, with
plain Space-Saving, and so does the default profile, with the gate in front.

All profiles use the same tokenizer, so that they can be compared on any text.
"""
from lab.cache import Job, Output
from lab.sets import scores

PROFILES = ["paper", "athena", "default", "incremental"]
TRACED = ["default", "fast", "paper", "athena", "incremental"]
COUNTED = {"plain": "athena", "gate": "default"}
STEPS = 12
COMPARED_WORDS = 1000  # most frequent words whose neighbors are compared without sets
MAIN_K = 70000
SEED = 2  # of the references
BATCH = ["--profile", "word2vec", "--batch", "--min-count", 1]
REFERENCES = ["own", "one", "several"]
DRAWN = "own"


def band_text(band):
    return f"{band[0]}-{band[1]}"


def epochs_text(number):
    return f"{number} epoch{'s' if number > 1 else ''}"


class Plan:
    def __init__(self, store, text, sets, options, common):
        self.store, self.text, self.sets = store, text, sets
        self.ks, self.bands, self.epochs = options.k, options.bands, options.epochs
        self.main_k = MAIN_K if MAIN_K in self.ks else self.ks[len(self.ks) // 2]
        self.common, self.dim = common, options.dim
        self.titles = {}
        self.streams = {k: {p: self.stream(p, k) for p in PROFILES} for k in self.ks}
        self.batches = {k: {e: self.batch(e, k) for e in self.epochs_for(k)}
                        for k in self.ks}
        self.own = {k: self.own_batch(k, SEED) for k in self.ks}
        self.twins = {k: self.own_batch(k, SEED + 1) for k in self.ks}
        self.fast = self.stream("fast", self.main_k)

    def epochs_for(self, k):
        return range(1, self.epochs + 1) if k == self.main_k else sorted({1, self.epochs})

    def train(self, name, title, k, *options):
        job = Job(f"{name}-{k}", "train", self.text, "-o", Output("tide"), "--quiet",
                  "--vocab", k, *options, *self.common)
        self.titles[job] = title
        return job

    def stream(self, profile, k):
        return self.train(profile, profile, k, "--profile", profile)

    def batch(self, epochs, k):
        return self.train(f"word2vec-{epochs}", f"word2vec, {epochs_text(epochs)}", k,
                          *BATCH, "--epochs", epochs, "--seed", SEED)

    def own_batch(self, k, seed):
        twin = seed != SEED
        return self.train("twin" if twin else "own",
                          "the paper's word2vec" + (", another seed" if twin else ""), k,
                          *BATCH, "--epochs", 1, "--init", "uniform", "--optimizer",
                          "constant", "--seed", seed)

    def models(self):
        for k in self.ks:
            yield from self.streams[k].values()
            if k == self.main_k:
                yield self.fast
            yield from (self.own[k], self.twins[k], *self.batches[k].values())

    def references(self, k):
        return {"own": self.own[k], "one": self.batches[k][1],
                "several": self.batches[k][self.epochs]}

    def run(self):
        models = list(self.models())
        infos = [Job(f"{m.name}-info", "info", "--json", m) for m in models]
        self.costs = dict(zip(models, self.store.run_all(models)))
        self.infos = {m: r["printed"][0]
                      for m, r in zip(models, self.store.run_all(infos))}
        self.plan_counts()
        self.plan_agreement()
        self.plan_quality()
        self.plan_traces()
        self.store.run_all([*self.counts.values(), *self.agreements.values(),
                            *(job for jobs in self.quality_jobs.values()
                              for job in jobs.values()), *self.traces.values()])

    def reference(self, k):
        return self.batches[k][self.epochs]

    def known_bands(self, k):
        """The bands, cut where batch word2vec has no more words."""
        words = self.infos[self.reference(k)]["words"]
        cut = [(first, min(last, words)) for first, last in self.bands]
        return [band for band in cut if band[1] > band[0]]

    def plan_counts(self):
        self.counts = {
            (k, way): Job(f"{self.streams[k][profile].name}-counts", "eval", "counts",
                          "--json", "--points", Output("tsv"), self.streams[k][profile],
                          self.text)
            for k in self.ks for way, profile in COUNTED.items()}

    def agreement_job(self, a, b, bands, *options):
        return Job(f"{a.name}-as-{b.name}", "eval", "agreement", "--json", "--bands",
                   ",".join(map(band_text, bands)), *options, a, b)

    def plan_agreement(self):
        """By K, profile (or "twin") and reference; the pairs of one reference are drawn."""
        self.agreements = {}
        for k in self.ks:
            bands = self.known_bands(k)
            if not bands:
                continue
            for profile, model in [*self.streams[k].items(), ("twin", self.twins[k])]:
                for name, reference in self.references(k).items():
                    points = ["--points", Output("tsv")] if name == DRAWN else []
                    self.agreements[k, profile, name] = self.agreement_job(
                        model, reference, bands, *points)

    def plan_quality(self):
        """{model: {kind: job}}: the sets, or the neighbors shared with the reference."""
        self.quality_jobs = {}
        for model in self.models():
            reference = self.reference(self.infos[model]["capacity"])
            band = (1, min(COMPARED_WORDS, self.infos[reference]["words"]))
            jobs = {}
            if self.sets:
                jobs = {kind: Job(f"{model.name}-{kind}", *line)
                        for kind, line in self.sets.commands(model).items()}
            elif model is not reference:
                jobs = {"overlap": self.agreement_job(model, reference, [band])}
            self.quality_jobs[model] = jobs

    def plan_traces(self):
        k = self.main_k
        tokens = self.infos[self.streams[k]["default"]]["tokens"]
        evaluated = self.sets.trace_options() if self.sets else [
            "--reference", self.reference(k)]
        self.traces = {
            profile: Job(f"{profile}-{k}-trace", "eval", "trace", "--json", self.text,
                         "--every", max(1, tokens // STEPS), *evaluated, "--vocab", k,
                         "--profile", profile, *self.common)
            for profile in TRACED}


class Findings:
    """The results of a plan, by what they are about."""

    def __init__(self, plan):
        self.plan, self.store = plan, plan.store

    def printed(self, job):
        return self.store.result(job)["printed"]

    def counted(self, k, way):
        return self.printed(self.plan.counts[k, way])[0]

    def counts(self, k, profile):
        way = next((way for way, p in COUNTED.items() if p == profile), None)
        return self.counted(k, way) if way and k in self.plan.ks else None

    def agreed(self, k, profile, reference):
        job = self.plan.agreements.get((k, profile, reference))
        return self.printed(job)[0] if job else None

    def agreement(self, k, profile, reference):
        found = self.agreed(k, profile, reference)
        return found["cells"] if found else None

    def seconds(self, model):
        return self.plan.costs[model]["cpu_seconds"]

    def slowness(self, profile):
        k = self.plan.main_k
        return self.seconds(self.plan.streams[k][profile]) / self.seconds(
            self.plan.batches[k][1])

    def quality(self, model):
        """{name: score} with "mean". Without sets that is the overlap of neighbors, and
        undefined for the reference itself."""
        printed = {kind: self.printed(job)
                   for kind, job in self.plan.quality_jobs[model].items()}
        if self.plan.sets:
            return scores(printed)
        overlap = printed.get("overlap")
        return {"mean": overlap[0]["neighbours"][0]["overlap"] if overlap else None}

    def trace(self, profile):
        return self.printed(self.plan.traces[profile])
