// facts.tsx - a word and its statistics.

import { useSignal } from "@preact/signals";
import { Problem, request, wordPath } from "../../data/api";
import { stats } from "../../data/live";
import type { Term, WordFacts } from "../../data/types";
import { ago, amount, count, decimals, degrees, times } from "../../text/format";
import { ErrorText } from "../../ui/notice";
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
        title="The history of a watched word is kept even if the word is rare"
        onClick={() => void toggle()}
      >
        {watched.value ? "Watched" : "Watch"}
      </button>
      {problem.value && <ErrorText problem={problem.value} />}
    </>
  );
}

/** Shown if the text is not a word of the model: it was read otherwise, or has no vector but by its spelling. */
function ReadAs({ terms }: { terms: Term[] }) {
  return terms.map(({ text, tokens, unknown, composed }) => (
    <p key={text} class="note read-as">
      Showing results for {tokens.length > 1 && "the mean of "}
      <Quoted words={tokens} />
      {composed && (
        <>
          ; <Quoted words={composed} /> {composed.length > 1 ? "are" : "is"} not in the vocabulary and judged by
          spelling alone
        </>
      )}
      {unknown.length > 0 && (
        <>
          ; not in the vocabulary: <Quoted words={unknown} />
        </>
      )}
    </p>
  ));
}

function Quoted({ words }: { words: string[] }) {
  return words.map((word, i) => (
    <span key={i}>
      {i > 0 && ", "}“
      <WordText word={word} />”
    </span>
  ));
}

export function FactsOfWord({ facts }: { facts: WordFacts }) {
  const now = stats.value?.now ?? Date.now() / 1000;
  const age = facts.first_seen === null ? null : now - facts.first_seen;
  const single = facts.terms?.every(({ tokens, composed }) => tokens.length === 1 && !composed) ?? true;
  const statistics = [
    { name: "seen", value: count(facts.seen ?? facts.count), hint: "since it entered the vocabulary" },
    { name: "rank", value: count(facts.rank) },
    { name: "per second", value: amount(facts.rate), hint: "over the last minutes" },
    { name: "usually", value: amount(facts.baseline), hint: "long-term mean" },
    { name: "ratio", value: times(facts.ratio), hint: "the recent rate divided by the usual one" },
    { name: "turned", value: degrees(facts.drift), hint: "angle between the oldest vector and the current one" },
    { name: "first seen", value: ago(age) },
    { name: "norm", value: decimals(facts.norm, 2), hint: "of its vector" },
  ];
  return (
    <header class="word-head">
      <div class="word-title">
        <h2>
          <WordText word={facts.word} />
        </h2>
        {single && <Watch key={facts.word} facts={facts} />}
      </div>
      {facts.terms && <ReadAs terms={facts.terms} />}
      <dl class="figures">
        {statistics.filter(({ name }) => single || name === "norm").map(({ name, value, hint }) => (
          <div key={name} title={hint}>
            <dt>{name}</dt>
            <dd class="number">{value}</dd>
          </div>
        ))}
      </dl>
    </header>
  );
}
