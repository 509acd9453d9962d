// analogy.tsx - a is to b as c is to what?

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { withQuery } from "../../data/api";
import { useFetch } from "../../data/use_fetch";
import type { Near } from "../../data/types";
import { score } from "../../text/format";
import { ErrorText } from "../../ui/notice";
import { updateQueryWords, route } from "../../ui/route";
import { Word } from "../../ui/word";
import { WordField } from "../../ui/word_field";

const SHOWN = 6;

export function Analogy() {
  const fromRoute = route.value.query;
  const words = useSignal({ a: "", b: "", c: "" });
  useEffect(() => {
    if (fromRoute.a || fromRoute.b || fromRoute.c) words.value = { a: "", b: "", c: "", ...fromRoute };
  }, [fromRoute.a, fromRoute.b, fromRoute.c]);
  const { a, b, c } = words.value;
  const path = withQuery("/v1/analogy", { a, b, c, topn: SHOWN });
  const { data, problem } = useFetch<{ answers: Near[] }>(a && b && c ? path : null, 5);
  const field = (name: "a" | "b" | "c", label: string) => (
    <WordField
      label={label}
      placeholder="word"
      value={words.value[name]}
      persistent
      onPick={(word) => {
        words.value = { ...words.value, [name]: word };
        const { a, b, c } = words.value;
        updateQueryWords({ a, b, c });
      }}
    />
  );
  return (
    <section class="analogy">
      <h2>Analogy</h2>
      <div class="sentence">
        {field("a", "First word")} <span>is to</span> {field("b", "Second word")}{" "}
        <span>as</span> {field("c", "Third word")} <span>is to</span>
        {!data && <span class="blank">?</span>}
        {data && (
          <ol class="answers">
            {data.answers.map((answer) => (
              <li key={answer.word}>
                <Word word={answer.word} /> <span class="number">{score(answer.score)}</span>
              </li>
            ))}
          </ol>
        )}
      </div>
      {problem && <ErrorText problem={problem} />}
    </section>
  );
}
