// ticker.tsx - words as they enter or leave the vocabulary, newest first.

import { type TickerWord, stats } from "../../data/live";
import { bounded, roughly } from "../../text/format";
import { Word, WordText } from "../../ui/word";

const SHOWN = 12;

interface Props {
  kind: "entered" | "left";
  title: string;
  words: TickerWord[];
}

/** Without a baseline every word would be new, so none is listed. */
function emptyText(kind: Props["kind"]): string {
  const left = stats.value?.history?.baseline_in ?? 0;
  return kind === "entered" && left > 0
    ? `new words are listed in ${roughly(Math.max(1, left))}`
    : "none since the page was opened";
}

export function Ticker({ kind, title, words }: Props) {
  return (
    <section class={`panel ticker ticker-${kind}`}>
      <h2>{title}</h2>
      {words.length === 0 && <p class="note">{emptyText(kind)}</p>}
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
