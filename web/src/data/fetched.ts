// fetched.ts - an answer of the server as a part of a view: asked for when the view appears,
// again every so often, and again when a lost connection is back.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Problem, ask } from "./api";
import { openings } from "./live";

export interface Fetched<T> {
  data: T | null;
  problem: Problem | null;
}

/** Null asks for nothing. While a path is asked again, its last answer stays. */
export function useFetched<T>(path: string | null, everySeconds = 0): Fetched<T> {
  const answer = useSignal<Fetched<T> & { path: string | null }>({
    path: null,
    data: null,
    problem: null,
  });

  useEffect(() => {
    if (path === null) return;
    const control = new AbortController();
    let timer = 0;
    const put = (data: T | null, problem: Problem | null) => {
      if (!control.signal.aborted) answer.value = { path, data, problem };
    };
    const turn = async () => {
      if (!document.hidden) {
        try {
          put(await ask<T>(path, control.signal), null);
        } catch (error) {
          const kept = answer.peek().path === path ? answer.peek().data : null;
          if (error instanceof Problem) put(error.status === 404 ? null : kept, error);
        }
      }
      if (everySeconds && !control.signal.aborted)
        timer = window.setTimeout(() => void turn(), everySeconds * 1000);
    };
    void turn();
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [path, everySeconds, openings.value]);

  return answer.value.path === path ? answer.value : { data: null, problem: null };
}
