// pair.tsx - how similar two words are.

import { useSignal } from "@preact/signals";
import { withQuery } from "../../data/api";
import { useFetched } from "../../data/fetched";
import { score } from "../../text/format";
import { Trouble } from "../../ui/notice";
import { keepAsked, route } from "../../ui/route";
import { WordText } from "../../ui/word";
import { WordField } from "../../ui/word_field";

export function Pair({ word }: { word: string }) {
  const other = useSignal(route.value.asked.with ?? "");
  const path = withQuery("/v1/similarity", { a: word, b: other.value });
  const { data, problem } = useFetched<{ similarity: number }>(other.value ? path : null, 3);
  return (
    <section class="pair">
      <h2>Similarity</h2>
      <div class="sentence">
        <WordText word={word} /> <span>and</span>{" "}
        <WordField
          label="Another word"
          placeholder="another word"
          value={other.value}
          keeps
          onPick={(next) => {
            other.value = next;
            keepAsked({ with: next });
          }}
        />
      </div>
      {problem && <Trouble problem={problem} />}
      {data && (
        <div class="gauge" role="img" aria-label={`Cosine ${score(data.similarity)}`}>
          <div class="gauge-line">
            <i style={{ left: `${50 + 50 * data.similarity}%` }} />
          </div>
          <output class="number">{score(data.similarity)}</output>
        </div>
      )}
    </section>
  );
}
