// notice.tsx - what is said where there is nothing to show.

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

export function Trouble({ problem }: { problem: Problem }) {
  return (
    <p class="trouble" role="alert">
      {problem.message}
    </p>
  );
}

/** True once the server has said that it knows no word at all. */
export const nothingLearned = (): boolean =>
  stats.value !== null && stats.value.vocabulary.size === 0;

export function NothingLearned() {
  return (
    <Notice title="Nothing learned yet">
      The tide is out. <a href={routeTo("send")}>Send some text</a> and watch it come in.
    </Notice>
  );
}

/** On every view: what was learned since the last checkpoint would be lost. */
export function NotSaved() {
  if (!failure.value) return null;
  return (
    <p class="trouble not-saved" role="alert">
      The last checkpoint failed: {visible(failure.value)}. Learning goes on, but is not saved.
    </p>
  );
}
