// state.ts - what the server is doing, in one word.

export type Link = "connecting" | "open" | "lost" | "refused" | "stopped";
export type State = Exclude<Link, "open"> | "learning" | "waiting" | "unsaved";

export const QUIET_SECONDS = 5;

/** `idle`: seconds of server time since the number of words last grew; `unsaved`: the last
 *  checkpoint failed. */
export function stateOf(link: Link, idle: number | null, unsaved = false): State {
  if (link !== "open") return link;
  if (idle === null) return "connecting";
  if (unsaved) return "unsaved";
  return idle < QUIET_SECONDS ? "learning" : "waiting";
}

export const STATE_TEXT: Record<State, string> = {
  connecting: "Connecting",
  learning: "Learning",
  waiting: "Waiting for text",
  unsaved: "Cannot save",
  stopped: "Stopped",
  lost: "Connection lost, retrying",
  refused: "Token required",
};
