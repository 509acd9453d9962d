// token.ts - the bearer token, stored until the tab is closed.

import { signal } from "@preact/signals";
import { loadValue, saveValue } from "./storage";

const KEY = "wordtide-token";

export const token = signal(loadValue("sessionStorage", KEY));
/** Whether the server has refused the current token. */
export const tokenRequired = signal(false);

export function setToken(value: string): void {
  saveValue("sessionStorage", KEY, value);
  token.value = value;
  tokenRequired.value = false;
}
