// facts.tsx - a word and its figures.

import { useSignal } from "@preact/signals";
import { Problem, request, wordPath } from "../../data/api";
import { stats } from "../../data/live";
import type { WordFacts } from "../../data/types";
import { ago, amount, bounded, count, decimals, degrees, times } from "../../text/format";
import { Trouble } from "../../ui/notice";
import { WordText } from "../../ui/word";

function Watch({ facts }: { facts: WordFacts }) {
  const watched = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  const path = wordPath(facts.word, "watch");
  const toggle = async () => {
    const method = watched.value ? "DELETE" : "PUT";
    const headers = { "Content-Type": "application/json" };
    try {
      await request(path, { method, headers });
      watched.value = !watched.value;
      problem.value = null;
    } catch (error) {
      if (error instanceof Problem) problem.value = error;
    }
  };
  return (
    <>
      <button
        type="button"
        class="button quiet"
        aria-pressed={watched.value}
        title="A watched word keeps its past, however rare it is"
        onClick={() => void toggle()}
      >
        {watched.value ? "Watched" : "Watch"}
      </button>
      {problem.value && <Trouble problem={problem.value} />}
    </>
  );
}

export function FactsOfWord({ facts }: { facts: WordFacts }) {
  const now = stats.value?.now ?? Date.now() / 1000;
  const age = facts.first_seen === null ? null : now - facts.first_seen;
  const figures = [
    { name: "seen", value: bounded(facts.count, facts.error), hint: "± what may be others' counts" },
    { name: "rank", value: count(facts.rank) },
    { name: "a second", value: amount(facts.rate) },
    { name: "its usual", value: times(facts.trend), hint: "rate now against its own mean" },
    { name: "turned", value: degrees(facts.drift), hint: "between the oldest vector kept and now" },
    { name: "first seen", value: ago(age) },
    { name: "length", value: decimals(facts.norm, 2), hint: "of its vector" },
  ];
  return (
    <header class="word-head">
      <div class="word-title">
        <h2>
          <WordText word={facts.word} />
        </h2>
        <Watch key={facts.word} facts={facts} />
      </div>
      <dl class="figures">
        {figures.map(({ name, value, hint }) => (
          <div key={name} title={hint}>
            <dt>{name}</dt>
            <dd class="number">{value}</dd>
          </div>
        ))}
      </dl>
    </header>
  );
}
