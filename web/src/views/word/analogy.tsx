// analogy.tsx - a is to b as c is to what?

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { withQuery } from "../../data/api";
import { useFetched } from "../../data/fetched";
import type { Near } from "../../data/types";
import { score } from "../../text/format";
import { Trouble } from "../../ui/notice";
import { keepAsked, route } from "../../ui/route";
import { Word } from "../../ui/word";
import { WordField } from "../../ui/word_field";

const SHOWN = 6;

export function Analogy() {
  const given = route.value.asked;
  const asked = useSignal({ a: "", b: "", c: "" });
  useEffect(() => {
    if (given.a || given.b || given.c) asked.value = { a: "", b: "", c: "", ...given };
  }, [given.a, given.b, given.c]);
  const { a, b, c } = asked.value;
  const path = withQuery("/v1/analogy", { a, b, c, topn: SHOWN });
  const { data, problem } = useFetched<{ answers: Near[] }>(a && b && c ? path : null, 5);
  const field = (name: "a" | "b" | "c", label: string) => (
    <WordField
      label={label}
      placeholder="word"
      value={asked.value[name]}
      keeps
      onPick={(word) => {
        asked.value = { ...asked.value, [name]: word };
        const { a, b, c } = asked.value;
        keepAsked({ a, b, c });
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
      {problem && <Trouble problem={problem} />}
    </section>
  );
}
