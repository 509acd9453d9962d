// word.tsx - a word on the page: isolated from the text direction around it, shortened if it is
// long with the whole word in its title, and linked to the view of the word.

import { short, whole } from "../text/visible";
import { wordRoute } from "./route";

export function WordText({ word }: { word: string }) {
  return (
    <bdi class="word" title={whole(word)}>
      {short(word)}
    </bdi>
  );
}

export function Word({ word }: { word: string }) {
  return (
    <a class="word-link" href={wordRoute(word)}>
      <WordText word={word} />
    </a>
  );
}

export function WordList({ words, fresh }: { words: string[]; fresh?: Set<string> }) {
  return (
    <span class="word-list">
      {words.map((word) => (
        <span key={word} class={fresh?.has(word) ? "is-fresh" : undefined}>
          <Word word={word} />
        </span>
      ))}
    </span>
  );
}
