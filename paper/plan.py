"""What the report needs: which models are trained, and what is asked of them.

For every K the four streaming profiles learn from the text once. They are compared with
three references, all of them batch SGNS with the true top K words (`train --batch`):

  own      one epoch of the word2vec that comes with the paper's program and that its
           figures were made with: first vectors of +-0.5 and a rate that does not fall;
  one      one epoch of word2vec as everybody knows it;
  several  as many epochs of it as people use.

"twin" is `own` with another seed: how far two runs of the same program agree. A system
whose vectors are less noisy than that program's may agree more. References have another
seed than streams, because a word begins at the same place in all models of a seed.

Profile paper does not count the words that sub-sampling drops, so its counts are not
those of the paper's first experiment, which counts every word. That is what profile
athena does, with plain Space-Saving, and the default profile with the gate before it.

All profiles take the same words out of the text (--tokenizer words), so that they can be
compared on text that is not as clean as text8.
"""
from runs import Job, Made

PROFILES = ["paper", "athena", "default", "incremental"]
TRACED = ["default", "fast", "paper", "athena", "incremental"]
COUNTED = {"plain": "athena", "gate": "default"}
STEPS = 12
JUDGED_WORDS = 1000  # most frequent words whose neighbors are compared without sets
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
        job = Job(f"{name}-{k}", "train", self.text, "-o", Made("tide"), "--quiet",
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
                          *BATCH, "--epochs", 1, "--init", "uniform", "--rate", "constant",
                          "--seed", seed)

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
                            *(job for jobs in self.quality.values() for job in jobs),
                            *self.traces.values()])

    def reference(self, k):
        return self.batches[k][self.epochs]

    def is_reference(self, model):
        return model in map(self.reference, self.ks)

    def known_bands(self, k):
        """The bands as far as batch word2vec has so many words."""
        words = self.infos[self.reference(k)]["words"]
        cut = [(first, min(last, words)) for first, last in self.bands]
        return [band for band in cut if band[1] > band[0]]

    def plan_counts(self):
        self.counts = {
            (k, way): Job(f"{self.streams[k][profile].name}-counts", "eval", "counts",
                          "--json", "--points", Made("tsv"), self.streams[k][profile],
                          self.text)
            for k in self.ks for way, profile in COUNTED.items()}

    def agreement(self, a, b, bands, *options):
        return Job(f"{a.name}-as-{b.name}", "eval", "agreement", "--json", "--bands",
                   ",".join(map(band_text, bands)), *options, a, b)

    def plan_agreement(self):
        """By K, profile (or "twin") and reference; pairs to draw from one of them."""
        self.agreements = {}
        for k in self.ks:
            bands = self.known_bands(k)
            if not bands:
                continue
            for profile, model in [*self.streams[k].items(), ("twin", self.twins[k])]:
                for name, reference in self.references(k).items():
                    points = ["--points", Made("tsv")] if name == DRAWN else []
                    self.agreements[k, profile, name] = self.agreement(
                        model, reference, bands, *points)

    def plan_quality(self):
        """{model: jobs}: the sets, or neighbors in common with the reference."""
        self.quality = {}
        for model in self.models():
            k = self.infos[model]["capacity"]
            band = (1, min(JUDGED_WORDS, self.infos[self.reference(k)]["words"]))
            if self.sets:
                self.quality[model] = self.sets.jobs(model)
            elif self.is_reference(model):
                self.quality[model] = []
            else:
                self.quality[model] = [self.agreement(model, self.reference(k), [band])]

    def plan_traces(self):
        k = self.main_k
        tokens = self.infos[self.streams[k]["default"]]["tokens"]
        judged = self.sets.trace_options() if self.sets else [
            "--reference", self.reference(k)]
        self.traces = {
            profile: Job(f"{profile}-{k}-trace", "eval", "trace", "--json", self.text,
                         "--every", max(1, tokens // STEPS), *judged, "--vocab", k,
                         "--profile", profile, *self.common)
            for profile in TRACED}
