// stream.ts - receives the server's events while the page is open.
//
// Uses fetch instead of EventSource, which cannot send a token. A connection that ends or is
// silent for too long is retried with increasing delays, and at once when the browser comes back
// online or the token changes.

import { Problem, fetchWithToken, request } from "./api";
import { link, markGap, connectionCount, addAlarm, applyChurn, applyStats } from "./live";
import { EventParser, type ServerEvent } from "./sse";
import { token } from "./token";
import type { Alarm, Churn, Stats } from "./types";

const TIMEOUT_MS = 15_000;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

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
    await waitBeforeRetry(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 1000);
  }
}

async function readEvents(onEvent: () => void): Promise<void> {
  const control = new AbortController();
  let timeout = 0;
  const restartTimeout = () => {
    clearTimeout(timeout);
    timeout = window.setTimeout(() => control.abort(), TIMEOUT_MS);
  };
  restartTimeout();
  try {
    const response = await request("/v1/events", { signal: control.signal });
    const parser = new EventParser();
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    for (;;) {
      const chunk = await reader?.read();
      if (!chunk || chunk.done) return;
      restartTimeout();
      for (const event of parser.push(decoder.decode(chunk.value, { stream: true }))) {
        if (link.value !== "open") connectionCount.value++;
        link.value = "open";
        onEvent();
        dispatch(event);
      }
    }
  } finally {
    clearTimeout(timeout);
    control.abort();
  }
}

function dispatch({ event, data }: ServerEvent): void {
  try {
    const value: unknown = JSON.parse(data);
    if (event === "stats") applyStats(value as Stats);
    if (event === "words") applyChurn(value as Churn);
    if (event === "alarm") addAlarm(value as Alarm);
  } catch (error) {
    console.error(error); // A malformed event does not end the connection.
  }
}

/** A server that shuts down reports it in /ready, until it no longer responds. */
async function isStopping(): Promise<boolean> {
  try {
    const response = await fetchWithToken("/ready", { signal: AbortSignal.timeout(2000) });
    return ((await response.json()) as { status: unknown }).status === "stopping";
  } catch {
    return false;
  }
}

function waitBeforeRetry(milliseconds: number): Promise<void> {
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
