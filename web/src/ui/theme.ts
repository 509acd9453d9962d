// theme.ts - light or dark: the system's preference until the user chooses. The style sheet has
// both colors of everything; the color-scheme of the root selects.

import { effect, signal } from "@preact/signals";
import { loadValue, saveValue } from "../data/storage";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "wordtide-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

const stored = loadValue("localStorage", KEY);

export const theme = signal<Theme>(THEMES.find((one) => one === stored) ?? "system");
/** The current scheme; canvas drawings depend on it. */
export const scheme = signal<"light" | "dark">("light");

export function followTheme(): void {
  const apply = () => {
    const chosen = theme.peek();
    scheme.value = chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
    document.documentElement.dataset["scheme"] = scheme.peek();
  };
  dark.addEventListener("change", apply);
  effect(() => {
    void theme.value;
    apply();
  });
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  saveValue("localStorage", KEY, next);
}

/** The current value of a color variable of the style sheet, in a form for canvas. */
export function colorOf(variable: string): string {
  const probe = document.createElement("i");
  probe.hidden = true;
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
