// live.ts - what is known of the server from its events: the newest stats, ten minutes of
// them, words that came and went, alarms. All of it in fixed memory.

import { computed, signal } from "@preact/signals";
import { Ring } from "./ring";
import { type Link, stateOf } from "./state";
import type { Alarm, Churn, Counted, Stats } from "./types";

export const WINDOW_SECONDS = 600;
const SPANS = [60, 120, 300, WINDOW_SECONDS];
export const Column = { time: 0, rate: 1, loss: 2, entered: 3, left: 4, resident: 5 } as const;
const TICKER_LENGTH = 40;
const ALARMS = 50;

/** A word that came or went, with a number that makes it the one of its kind. */
export interface Passing extends Counted {
  id: number;
}

export const link = signal<Link>("connecting");
/** Grows when a connection is made; what was asked before is then asked again. */
export const openings = signal(0);
export const stats = signal<Stats | null>(null);
export const entered = signal<Passing[]>([]);
export const left = signal<Passing[]>([]);
export const alarms = signal<Alarm[]>([]);

export const ring = new Ring(WINDOW_SECONDS, 6);

const idle = signal<number | null>(null);
/** Why the last checkpoint failed; empty when it did not. */
export const failure = computed(() => stats.value?.checkpoint?.failure ?? "");
export const state = computed(() => stateOf(link.value, idle.value, failure.value !== ""));
export const ages = computed(() => stats.value?.history?.ages ?? []);

let grewAt = -Infinity; // by the server's clock
let passed = 0;

export function takeStats(next: Stats): void {
  const last = stats.value;
  if (last && (next.started !== last.started || next.now < last.now)) forget();
  if (!last || next.tokens > last.tokens) {
    if (last || next.words_per_second > 0) grewAt = next.now;
  }
  idle.value = next.now - grewAt;
  ring.push([
    next.now,
    next.words_per_second,
    next.loss,
    next.vocabulary.admitted_per_second,
    next.vocabulary.evicted_per_second,
    next.memory.resident_bytes,
  ]);
  stats.value = next;
}

/** How many seconds the charts show: they begin with one minute and widen as it fills. */
export function spanShown(times: (number | null)[]): number {
  const held = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return SPANS.find((span) => span >= held) ?? WINDOW_SECONDS;
}

/** Another server, or another life of it: its clock and its words are not those we drew. */
function forget(): void {
  ring.clear();
  entered.value = left.value = [];
  alarms.value = [];
  grewAt = -Infinity;
}

/** A gap in the lines, where the connection was lost. */
export function markGap(): void {
  const last = stats.value;
  if (last && ring.length) ring.push([last.now + 0.5, null, null, null, null, null]);
}

export function takeChurn(churn: Churn): void {
  entered.value = passing(churn.entered, entered.value);
  left.value = passing(churn.left, left.value);
}

function passing(next: Counted[], before: Passing[]): Passing[] {
  if (!next?.length) return before;
  const fresh = next.map((one) => ({ ...one, id: passed++ })).reverse();
  return [...fresh, ...before].slice(0, TICKER_LENGTH);
}

export function takeAlarm(alarm: Alarm): void {
  alarms.value = [alarm, ...alarms.value].slice(0, ALARMS);
}
