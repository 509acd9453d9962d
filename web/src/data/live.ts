// live.ts - the state of the server, from its events: the latest statistics, ten minutes of
// history, words that entered or left, and alarms. All of it in fixed memory.

import { computed, signal } from "@preact/signals";
import { Ring } from "./ring";
import { type Link, stateOf } from "./state";
import type { Alarm, Churn, Counted, Stats } from "./types";

export const WINDOW_SECONDS = 600;
const SPANS = [60, 120, 300, WINDOW_SECONDS];
export const Column = { time: 0, rate: 1, loss: 2, entered: 3, left: 4, resident: 5 } as const;
const TICKER_LENGTH = 40;
const ALARMS = 50;

/** A word that entered or left, with a unique id. */
export interface TickerWord extends Counted {
  id: number;
}

export const link = signal<Link>("connecting");
/** Incremented with each connection; views then fetch their data again. */
export const connectionCount = signal(0);
export const stats = signal<Stats | null>(null);
export const entered = signal<TickerWord[]>([]);
export const left = signal<TickerWord[]>([]);
export const alarms = signal<Alarm[]>([]);

export const ring = new Ring(WINDOW_SECONDS, 6);

const idle = signal<number | null>(null);
/** The error of the last checkpoint; empty if it succeeded. */
export const failure = computed(() => stats.value?.checkpoint?.failure ?? "");
export const state = computed(() => stateOf(link.value, idle.value, failure.value !== ""));
export const ages = computed(() => stats.value?.history?.ages ?? []);

let lastGrowth = -Infinity; // of the number of words, in server time
let nextId = 0;

export function applyStats(next: Stats): void {
  const last = stats.value;
  if (last && (next.started !== last.started || next.now < last.now)) reset();
  if (!last || next.tokens > last.tokens) {
    if (last || next.words_per_second > 0) lastGrowth = next.now;
  }
  idle.value = next.now - lastGrowth;
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

/** The seconds that charts show: one minute at first, widening as the ring fills. */
export function chartSpan(times: (number | null)[]): number {
  const recorded = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return SPANS.find((span) => span >= recorded) ?? WINDOW_SECONDS;
}

/** For another server, or after a restart: its clock and its words differ. */
function reset(): void {
  ring.clear();
  entered.value = left.value = [];
  alarms.value = [];
  lastGrowth = -Infinity;
}

/** Breaks the lines of the charts where the connection was lost. */
export function markGap(): void {
  const last = stats.value;
  if (last && ring.length) ring.push([last.now + 0.5, null, null, null, null, null]);
}

export function applyChurn(churn: Churn): void {
  entered.value = prependWords(churn.entered, entered.value);
  left.value = prependWords(churn.left, left.value);
}

function prependWords(next: Counted[], current: TickerWord[]): TickerWord[] {
  if (!next?.length) return current;
  const added = next.map((one) => ({ ...one, id: nextId++ })).reverse();
  return [...added, ...current].slice(0, TICKER_LENGTH);
}

export function addAlarm(alarm: Alarm): void {
  alarms.value = [alarm, ...alarms.value].slice(0, ALARMS);
}
