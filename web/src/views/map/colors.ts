// colors.ts - the meaning of the colors of the map. A ramp has few steps, so that all dots of one
// color are drawn in one path.

import { colorOf } from "../../ui/theme";
import type { Dot } from "./scene";

export type Tint = "age" | "drift" | "trend";

export const STEPS = 12;

export const TINTS: readonly { value: Tint; text: string; low: string; high: string }[] = [
  { value: "age", text: "age", low: "old", high: "new" },
  { value: "drift", text: "drift", low: "steady", high: "turned 60\u00b0" },
  { value: "trend", text: "trend", low: "falling", high: "rising" },
];

const DAY = 86400;

/** A value from 0 to 1; null if unknown. */
export function tintValue(dot: Pick<Dot, Tint>, tint: Tint): number | null {
  if (tint === "trend") return dot.trend === null ? null : clamp(0.5 + dot.trend / 5);
  if (tint === "drift") return dot.drift === null ? null : clamp(dot.drift / 60);
  return dot.age === null ? 0 : clamp(1 - Math.log1p(dot.age) / Math.log1p(DAY));
}

const clamp = (share: number) => Math.min(1, Math.max(0, share));

export const colorStep = (share: number): number => Math.min(STEPS - 1, Math.floor(share * STEPS));

const RAMPS: Record<Tint, string[]> = {
  age: ["--map-old", "--tide", "--rise"],
  drift: ["--map-old", "--sand", "--rise"],
  trend: ["--ebb", "--map-old", "--rise"],
};

type Rgb = [number, number, number];

function parseRgb(variable: string): Rgb {
  const [r = 0, g = 0, b = 0] = (colorOf(variable).match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}

/** The colors of all steps in the current theme. */
export function colorRamp(tint: Tint): string[] {
  const stops = RAMPS[tint].map(parseRgb);
  return Array.from({ length: STEPS }, (_, step) => {
    const at = (step / (STEPS - 1)) * (stops.length - 1);
    const from = stops[Math.floor(at)] ?? [0, 0, 0];
    const to = stops[Math.ceil(at)] ?? from;
    const share = at - Math.floor(at);
    const mixed = from.map((value, i) => Math.round(value + ((to[i] ?? value) - value) * share));
    return `rgb(${mixed.join(", ")})`;
  });
}
