// word.tsx - a word on the page: isolated from the direction of what surrounds it, cut when it
// is long with the whole in its title, and leading to all that is known of it.

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
