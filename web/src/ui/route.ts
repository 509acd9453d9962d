// route.ts - which view is shown, kept in the address after "#/".
//
//   #/live   #/word   #/word/tea   #/word/tea?with=coffee&a=...   #/map   #/trends   #/drift   #/send

import { signal } from "@preact/signals";
import { wellFormed } from "../text/visible";

export const VIEWS = ["live", "word", "map", "trends", "drift", "send"] as const;
export type View = (typeof VIEWS)[number];

/** Other words of the view "word": compared with, and three of an analogy. */
export const ASKED = ["with", "a", "b", "c"] as const;
export type Asked = Partial<Record<(typeof ASKED)[number], string>>;

export interface Route {
  view: View;
  word: string; // of the view "word", or empty
  asked: Asked;
}

export function parseRoute(hash: string): Route {
  const [, name = "", rest = "", query = ""] =
    /^#?\/?([^/?]*)\/?([^?]*)\??([^]*)$/.exec(hash) ?? [];
  const view = VIEWS.find((one) => one === name) ?? "live";
  if (view !== "word") return { view, word: "", asked: {} };
  return { view, word: decoded(rest), asked: askedIn(query) };
}

function askedIn(query: string): Asked {
  const given = new URLSearchParams(query);
  const asked: Asked = {};
  for (const name of ASKED) {
    const word = given.get(name);
    if (word) asked[name] = word;
  }
  return asked;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand, with a lonely per cent sign
  }
}

export function routeTo(view: View, word = ""): string {
  return `#/${view}${word && `/${encodeURIComponent(wellFormed(word))}`}`;
}

/** Keeps in the address what was asked beside the word, so that it is there after a reload. */
export function keepAsked(asked: Asked): void {
  const { view, word, asked: before } = route.value;
  const kept = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...before, ...asked }))
    if (value) kept.set(name, wellFormed(value));
  const query = kept.toString();
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
