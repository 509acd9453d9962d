// theme.ts - light or dark: as the system says, until somebody chooses. The style sheet has both
// colours of everything; which of them holds is the root's color-scheme alone.

import { effect, signal } from "@preact/signals";
import { keep, recall } from "../data/kept";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "wordtide-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

const kept = recall("localStorage", KEY);

export const theme = signal<Theme>(THEMES.find((one) => one === kept) ?? "system");
/** What is in force now; drawings depend on it. */
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
  keep("localStorage", KEY, next);
}

/** The colour that a variable of the style sheet stands for now, as canvas wants it. */
export function colourOf(variable: string): string {
  const probe = document.createElement("i");
  probe.hidden = true;
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
