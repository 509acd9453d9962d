// state.ts - what the server is doing, in a word, from what was seen of it.

export type Link = "connecting" | "open" | "lost" | "refused" | "stopped";
export type State = "connecting" | "learning" | "waiting" | "stopped" | "lost" | "refused";

export const QUIET_SECONDS = 5;

/** `idle`: seconds, by the server's clock, since the number of words has last grown. */
export function stateOf(link: Link, idle: number | null): State {
  if (link !== "open") return link;
  if (idle === null) return "connecting";
  return idle < QUIET_SECONDS ? "learning" : "waiting";
}

export const STATE_TEXT: Record<State, string> = {
  connecting: "Connecting",
  learning: "Learning",
  waiting: "Waiting for text",
  stopped: "Stopped",
  lost: "Connection lost, trying again",
  refused: "Token needed",
};
