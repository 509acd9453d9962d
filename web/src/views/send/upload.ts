// upload.ts - sends text to the server and tracks the progress.
//
// The server accepts all of a body or, if its queue is full, only its first lines; the rest is sent
// again after the delay in Retry-After. So nothing is lost and nothing is sent twice.

import { signal, type Signal } from "@preact/signals";
import { Problem, request, withQuery } from "../../data/api";
import type { Taken } from "../../data/types";
import type { Kind } from "./kinds";
import { splitBodies, readAll, dropLines } from "./lines";

const BODY_BYTES = 1 << 20;
const WHOLE_BYTES = 16 << 20; // the limit of the server
const MAX_RETRIES = 120; // in a row, while the queue is full

export type Phase = "sending" | "waiting" | "done" | "failed" | "stopped";

export interface Progress {
  phase: Phase;
  sent: number; // bytes of the text
  taken: number; // lines
  skipped: number;
  problem: string;
}

export class Upload {
  readonly progress: Signal<Progress> = signal({
    phase: "sending",
    sent: 0,
    taken: 0,
    skipped: 0,
    problem: "",
  });
  private readonly control = new AbortController();

  constructor(
    readonly id: number,
    readonly name: string,
    readonly size: number | null, // bytes; null if unknown
    private readonly stream: ReadableStream<Uint8Array>,
    private readonly kind: Kind,
    private readonly field: string, // of records; empty for the default
  ) {}

  stop(): void {
    this.control.abort();
  }

  async run(): Promise<void> {
    try {
      if (this.kind.whole) await this.send(await readAll(this.stream, WHOLE_BYTES));
      else for await (const body of splitBodies(this.stream, BODY_BYTES)) await this.send(body);
      this.update({ phase: "done" });
    } catch (error) {
      if (this.control.signal.aborted) this.update({ phase: "stopped" });
      else this.update({ phase: "failed", problem: error instanceof Error ? error.message : "" });
    }
  }

  private update(change: Partial<Progress>): void {
    this.progress.value = { ...this.progress.peek(), ...change };
  }

  private async send(body: Uint8Array<ArrayBuffer>): Promise<void> {
    let rest = body;
    for (let retries = 0; rest.length; ) {
      try {
        const { taken, skipped } = await this.post(rest);
        const current = this.progress.peek();
        this.update({ phase: "sending", taken: current.taken + taken, skipped: current.skipped + skipped });
        break;
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 429 || ++retries > MAX_RETRIES) throw error;
        if (error.taken) retries = 0;
        this.update({ phase: "waiting", taken: this.progress.peek().taken + error.taken });
        if (error.taken && this.kind.whole) throw error;
        rest = dropLines(rest, error.taken);
        await this.pause(error.retrySeconds);
      }
    }
    this.update({ sent: this.progress.peek().sent + body.length });
  }

  private async post(body: Uint8Array<ArrayBuffer>): Promise<Taken> {
    const query = this.kind.records && this.field ? { text: this.field } : {};
    const response = await request(withQuery("/v1/ingest", query), {
      method: "POST",
      headers: { "Content-Type": this.kind.type },
      body,
      signal: this.control.signal,
    });
    return (await response.json()) as Taken;
  }

  private pause(seconds: number): Promise<void> {
    const { signal: stop } = this.control;
    return new Promise((resume, reject) => {
      const timer = setTimeout(resume, Math.min(30, seconds) * 1000);
      stop.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(new Error("stopped"));
      });
    });
  }
}
