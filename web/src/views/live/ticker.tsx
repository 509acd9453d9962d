// ticker.tsx - words as they come in or go out, the newest first.

import type { Passing } from "../../data/live";
import { bounded } from "../../text/format";
import { Word, WordText } from "../../ui/word";

const SHOWN = 12;

interface Props {
  kind: "entered" | "left";
  title: string;
  words: Passing[];
}

export function Ticker({ kind, title, words }: Props) {
  return (
    <section class={`panel ticker ticker-${kind}`}>
      <h2>{title}</h2>
      {words.length === 0 && <p class="note">nobody at the moment</p>}
      <ol>
        {words.slice(0, SHOWN).map(({ id, word, count, error }) => (
          <li key={id}>
            {kind === "entered" ? <Word word={word} /> : <WordText word={word} />}
            <span class="number">{bounded(count, error)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
