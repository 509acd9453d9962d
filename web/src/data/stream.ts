// stream.ts - follows the server's events for as long as the page is open.
//
// fetch is used where EventSource could be, because it can send a token. A connection that ends
// or says nothing for too long is made again, later and later up to a limit, at once when the
// browser comes back online or a token is given.

import { Problem, reach, request } from "./api";
import { link, markGap, openings, takeAlarm, takeChurn, takeStats } from "./live";
import { EventParser, type ServerEvent } from "./sse";
import { token } from "./token";
import type { Alarm, Churn, Stats } from "./types";

const SILENCE_MS = 15_000;
const WAITS_MS = [500, 1000, 2000, 4000, 8000];

export async function followEvents(): Promise<never> {
  for (let failures = 0; ; failures++) {
    try {
      await readEvents(() => {
        failures = 0;
      });
      link.value = "lost";
    } catch (error) {
      link.value = error instanceof Problem && error.status === 401 ? "refused" : "lost";
    }
    markGap();
    if (link.value === "lost" && (await isStopping())) link.value = "stopped";
    await pause(WAITS_MS[Math.min(failures, WAITS_MS.length - 1)] ?? 1000);
  }
}

async function readEvents(onEvent: () => void): Promise<void> {
  const control = new AbortController();
  let silence = 0;
  const listen = () => {
    clearTimeout(silence);
    silence = window.setTimeout(() => control.abort(), SILENCE_MS);
  };
  listen();
  try {
    const response = await request("/v1/events", { signal: control.signal });
    const parser = new EventParser();
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    for (;;) {
      const piece = await reader?.read();
      if (!piece || piece.done) return;
      listen();
      for (const event of parser.push(decoder.decode(piece.value, { stream: true }))) {
        if (link.value !== "open") openings.value++;
        link.value = "open";
        onEvent();
        take(event);
      }
    }
  } finally {
    clearTimeout(silence);
    control.abort();
  }
}

function take({ event, data }: ServerEvent): void {
  try {
    const value: unknown = JSON.parse(data);
    if (event === "stats") takeStats(value as Stats);
    if (event === "words") takeChurn(value as Churn);
    if (event === "alarm") takeAlarm(value as Alarm);
  } catch (error) {
    console.error(error); // One broken event is not worth the connection.
  }
}

/** A server that is about to end says so; one that has ended says nothing. */
async function isStopping(): Promise<boolean> {
  try {
    const response = await reach("/ready", { signal: AbortSignal.timeout(2000) });
    return ((await response.json()) as { status: unknown }).status === "stopping";
  } catch {
    return false;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resume) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      unsubscribe();
      resume();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener("online", done);
    const before = token.peek();
    const unsubscribe = token.subscribe((now) => {
      if (now !== before) queueMicrotask(done);
    });
  });
}
