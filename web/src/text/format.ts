// format.ts - formats numbers for display. Unknown values are a dash.

import type { Maybe } from "../data/types";

const NONE = "\u2013";
const MINUS = "\u2212";
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

const known = (n: Maybe | undefined): n is number => typeof n === "number" && Number.isFinite(n);
const signed = (text: string) => text.replace("-", MINUS);

/** 56,671,282 */
export function count(n: Maybe | undefined): string {
  return known(n) ? signed(grouped.format(n)) : NONE;
}

/** 56.7M or 70k, as in the command line tool */
export function brief(n: Maybe | undefined): string {
  if (!known(n)) return NONE;
  const tiny = n !== 0 && Math.abs(n) < 0.001; // many zeros would not fit next to a chart
  return signed(tiny ? n.toExponential(0) : compact.format(n)).replace("K", "k");
}

/** 55,637 or 4.2 or 0.03: about three significant digits. */
export function amount(n: Maybe | undefined): string {
  if (!known(n)) return NONE;
  const size = Math.abs(n);
  if (size >= 100) return count(n);
  const digits = size >= 10 ? 1 : size >= 0.095 || size === 0 ? 2 : 3;
  return signed(String(Number(n.toFixed(digits))));
}

export function decimals(n: Maybe | undefined, digits: number): string {
  return known(n) ? signed(n.toFixed(digits)) : NONE;
}

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** 107 MiB, as in the command line tool. */
export function bytes(n: Maybe | undefined): string {
  if (!known(n)) return NONE;
  let value = Math.max(0, n);
  let unit = 0;
  while (value >= 1023.5 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit > 0 && value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${BYTE_UNITS[unit]}`;
}

const TIME_UNITS: [number, string][] = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** 3 d 4 h: the two largest units. */
export function duration(seconds: Maybe | undefined): string {
  if (!known(seconds)) return NONE;
  let rest = Math.max(0, Math.round(seconds));
  const first = TIME_UNITS.findIndex(([size]) => rest >= size);
  if (first < 0) return "0 s";
  const parts: string[] = [];
  for (const [size, name] of TIME_UNITS.slice(first, first + 2)) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n) parts.push(`${n} ${name}`);
  }
  return parts.join(" ");
}

/** 4 min: only the largest unit. */
export function roughly(seconds: Maybe | undefined): string {
  return duration(seconds).split(" ").slice(0, 2).join(" ");
}

export function ago(seconds: Maybe | undefined): string {
  if (!known(seconds)) return NONE;
  return seconds < 1.5 ? "just now" : `${roughly(seconds)} ago`;
}

/** A ratio of two rates: 2.5×. */
export function times(ratio: Maybe | undefined): string {
  return known(ratio) ? `${amount(ratio)}\u00d7` : NONE;
}

export function degrees(n: Maybe | undefined): string {
  return known(n) ? `${n.toFixed(n < 9.95 ? 1 : 0)}\u00b0` : NONE;
}

/** A score between -1 and 1. */
export function score(n: Maybe | undefined): string {
  return decimals(n, 2);
}

/** 12,345 ± 7: an upper bound of the count, and its error. */
export function bounded(n: number, error: number | undefined): string {
  return error ? `${count(n)} \u00b1 ${brief(error)}` : count(n);
}
