// facts.tsx - operational facts: what was skipped and why, whether the model is saved, where the
// text comes from.

import type { Checkpoint, Stats } from "../../data/types";
import { ago, bytes, count, decimals, duration } from "../../text/format";
import { visible } from "../../text/visible";
import { Download } from "./download";

const REASONS: Record<string, string> = {
  invalid: "invalid UTF-8",
  cut: "words truncated",
  omitted: "words dropped",
  malformed_records: "records that are not JSON or CSV",
  missing_records: "records without the field",
  long_records: "records too long",
};

function Skipped({ skipped }: { skipped: Stats["skipped"] }) {
  const rows = Object.entries(skipped).filter(([name, n]) => name !== "bytes" && n > 0);
  return (
    <>
      <h2>Skipped</h2>
      {rows.length === 0 && <p class="note">nothing so far</p>}
      <dl class="rows">
        {rows.map(([name, n]) => (
          <div key={name}>
            <dt>{REASONS[name] ?? visible(name).replaceAll("_", " ")}</dt>
            <dd>{count(n)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function checkpointText(checkpoint: Checkpoint, now: number): string {
  if (checkpoint.running) return "being written";
  return checkpoint.time === null ? "none yet" : ago(now - checkpoint.time);
}

function CheckpointRows({ checkpoint, now }: { checkpoint: Checkpoint; now: number }) {
  const { failures, failure, pause_seconds: pause } = checkpoint;
  return (
    <>
      <div>
        <dt>checkpoint</dt>
        <dd title={visible(checkpoint.path)}>{checkpointText(checkpoint, now)}</dd>
      </div>
      {checkpoint.time !== null && (
        <div>
          <dt>size and pause</dt>
          <dd>
            {bytes(checkpoint.bytes)}, {pause === null ? "–" : `${decimals(1000 * pause, 0)} ms`}
          </dd>
        </div>
      )}
      {failures > 0 && (
        <div class="is-bad">
          <dt>failed checkpoints</dt>
          <dd>{count(failures)}</dd>
        </div>
      )}
      {failure && (
        <div class="is-bad">
          <dt>last error</dt>
          <dd>{visible(failure)}</dd>
        </div>
      )}
    </>
  );
}

export function Facts({ stats }: { stats: Stats }) {
  const { queue, model } = stats;
  return (
    <section class="panel facts">
      <Skipped skipped={stats.skipped} />
      <h2>Running</h2>
      <dl class="rows">
        <div>
          <dt>uptime</dt>
          <dd>{duration(stats.now - stats.started)}</dd>
        </div>
        {stats.checkpoint ? (
          <CheckpointRows checkpoint={stats.checkpoint} now={stats.now} />
        ) : (
          <div>
            <dt>checkpoint</dt>
            <dd>not configured</dd>
          </div>
        )}
        <div>
          <dt>queue</dt>
          <dd>
            {bytes(queue.bytes)} of {bytes(queue.capacity_bytes)}
            {queue.refused > 0 && `, ${count(queue.refused)} rejected`}
          </dd>
        </div>
        <div>
          <dt>sources</dt>
          <dd>{stats.sources.map((source) => visible(source.kind)).join(", ") || "none"}</dd>
        </div>
        <div>
          <dt>model</dt>
          <dd>
            {visible(String(model["profile"]))}, {count(Number(model["dim"]))} dimensions
          </dd>
        </div>
        <div>
          <dt>wordtide</dt>
          <dd>{visible(stats.version)}</dd>
        </div>
      </dl>
      <Download />
    </section>
  );
}
