// notice.tsx - messages in place of or above the content.

import type { ComponentChildren } from "preact";
import type { Problem } from "../data/api";
import { failure, stats } from "../data/live";
import { visible } from "../text/visible";
import { routeTo } from "./route";

export function Notice({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice">
      <p class="notice-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

export function ErrorText({ problem }: { problem: Problem }) {
  return (
    <p class="error-text" role="alert">
      {problem.message}
    </p>
  );
}

/** Whether the server has reported an empty vocabulary. */
export const nothingLearned = (): boolean =>
  stats.value !== null && stats.value.vocabulary.size === 0;

export function NothingLearned() {
  return (
    <Notice title="Nothing learned yet">
      The tide is out. <a href={routeTo("send")}>Send some text</a> and watch it come in.
    </Notice>
  );
}

/** Shown on every view: a crash would lose what was learned since the last checkpoint. */
export function NotSaved() {
  if (!failure.value) return null;
  return (
    <p class="error-text not-saved" role="alert">
      The last checkpoint failed: {visible(failure.value)}. Training continues but is not saved.
    </p>
  );
}
