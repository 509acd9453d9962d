// token.ts - the bearer token, kept for as long as the tab lives.

import { signal } from "@preact/signals";
import { keep, recall } from "./kept";

const KEY = "wordtide-token";

export const token = signal(recall("sessionStorage", KEY));
/** True while the server refuses what we have. */
export const tokenWanted = signal(false);

export function giveToken(value: string): void {
  keep("sessionStorage", KEY, value);
  token.value = value;
  tokenWanted.value = false;
}
