// route.ts - which view is shown, kept in the address after "#/".
//
//   #/live   #/word   #/word/tea   #/map   #/trends   #/drift   #/send

import { signal } from "@preact/signals";
import { wellFormed } from "../text/visible";

export const VIEWS = ["live", "word", "map", "trends", "drift", "send"] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  word: string; // of the view "word", or empty
}

export function parseRoute(hash: string): Route {
  const [, name = "", rest = ""] = /^#?\/?([^/]*)\/?([^]*)$/.exec(hash) ?? [];
  const view = VIEWS.find((one) => one === name) ?? "live";
  return { view, word: view === "word" ? decoded(rest) : "" };
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

export const wordRoute = (word: string): string => routeTo("word", word);

export const route = signal<Route>(parseRoute(""));

export function followAddress(): void {
  const read = () => {
    route.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}
