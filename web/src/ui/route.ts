// route.ts - which view is shown, stored in the URL after "#/".
//
//   #/live   #/word   #/word/tea   #/word/tea?with=coffee&a=...   #/map   #/trends   #/drift   #/send

import { signal } from "@preact/signals";
import { wellFormed } from "../text/visible";

export const VIEWS = ["live", "word", "map", "trends", "drift", "send"] as const;
export type View = (typeof VIEWS)[number];

/** Other words of the view "word": one to compare with, and three of an analogy. */
export const QUERY_WORDS = ["with", "a", "b", "c"] as const;
export type QueryWords = Partial<Record<(typeof QUERY_WORDS)[number], string>>;

export interface Route {
  view: View;
  word: string; // of the view "word"; may be empty
  query: QueryWords;
}

export function parseRoute(hash: string): Route {
  const [, name = "", rest = "", query = ""] =
    /^#?\/?([^/?]*)\/?([^?]*)\??([^]*)$/.exec(hash) ?? [];
  const view = VIEWS.find((one) => one === name) ?? "live";
  if (view !== "word") return { view, word: "", query: {} };
  return { view, word: decode(rest), query: parseQueryWords(query) };
}

function parseQueryWords(query: string): QueryWords {
  const parameters = new URLSearchParams(query);
  const words: QueryWords = {};
  for (const name of QUERY_WORDS) {
    const word = parameters.get(name);
    if (word) words[name] = word;
  }
  return words;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand, with a stray percent sign
  }
}

export function routeTo(view: View, word = ""): string {
  return `#/${view}${word && `/${encodeURIComponent(wellFormed(word))}`}`;
}

/** Stores the other words in the URL, so that they survive a reload. */
export function updateQueryWords(words: QueryWords): void {
  const { view, word, query: before } = route.value;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...before, ...words }))
    if (value) parameters.set(name, wellFormed(value));
  const query = parameters.toString();
  const address = routeTo(view, word) + (query && `?${query}`);
  history.replaceState(history.state, "", address);
  route.value = parseRoute(address);
}

export const wordRoute = (word: string): string => routeTo("word", word);

export const route = signal<Route>(parseRoute(""));

export function followAddress(): void {
  const read = () => {
    route.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}
