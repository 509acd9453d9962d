"""What was measured, by what it is about."""
from plan import COUNTED
from sets import scores


class Findings:
    def __init__(self, plan):
        self.plan, self.store = plan, plan.store

    def printed(self, job):
        return self.store.result(job)["printed"] if job else None

    def counted(self, k, way):
        return self.printed(self.plan.counts[k, way])[0]

    def counts(self, k, profile):
        way = {p: w for w, p in COUNTED.items()}.get(profile)
        return self.counted(k, way) if way and k in self.plan.ks else None

    def agreed(self, k, profile, reference):
        found = self.printed(self.plan.agreements.get((k, profile, reference)))
        return found[0] if found else None

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
        """{name: score} with "mean"; without sets that is the overlap of neighbors, and
        nothing for the reference itself."""
        results = [self.store.result(job) for job in self.plan.quality[model]]
        if self.plan.sets:
            return scores(results)
        if not results:
            return {"mean": None}
        return {"mean": results[0]["printed"][0]["neighbours"][0]["overlap"]}

    def trace(self, profile):
        return self.printed(self.plan.traces[profile])
