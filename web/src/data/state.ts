// state.ts - what the server is doing, in a word, from what was seen of it.

export type Link = "connecting" | "open" | "lost" | "refused" | "stopped";
export type State = Exclude<Link, "open"> | "learning" | "waiting" | "unsaved";

export const QUIET_SECONDS = 5;

/** `idle`: seconds, by the server's clock, since the number of words has last grown; `unsaved`: the last
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
  lost: "Connection lost, trying again",
  refused: "Token needed",
};
