// pair.tsx - how similar two words are.

import { useSignal } from "@preact/signals";
import { withQuery } from "../../data/api";
import { useFetch } from "../../data/use_fetch";
import { score } from "../../text/format";
import { ErrorText } from "../../ui/notice";
import { updateQueryWords, route } from "../../ui/route";
import { WordText } from "../../ui/word";
import { WordField } from "../../ui/word_field";

export function Pair({ word }: { word: string }) {
  const other = useSignal(route.value.query.with ?? "");
  const path = withQuery("/v1/similarity", { a: word, b: other.value });
  const { data, problem } = useFetch<{ similarity: number }>(other.value ? path : null, 3);
  return (
    <section class="pair">
      <h2>Similarity</h2>
      <div class="sentence">
        <WordText word={word} /> <span>and</span>{" "}
        <WordField
          label="Another word"
          placeholder="another word"
          value={other.value}
          persistent
          onPick={(next) => {
            other.value = next;
            updateQueryWords({ with: next });
          }}
        />
      </div>
      {problem && <ErrorText problem={problem} />}
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
