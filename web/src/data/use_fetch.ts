// use_fetch.ts - a hook that fetches JSON for a view: when the view appears, then at an interval,
// and again after a lost connection has been restored.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Problem, fetchJson } from "./api";
import { connectionCount } from "./live";

export interface FetchState<T> {
  data: T | null;
  problem: Problem | null;
}

/** A null path fetches nothing. While a path is refreshed, its previous data stays. */
export function useFetch<T>(path: string | null, everySeconds = 0): FetchState<T> {
  const answer = useSignal<FetchState<T> & { path: string | null }>({
    path: null,
    data: null,
    problem: null,
  });

  useEffect(() => {
    if (path === null) return;
    const control = new AbortController();
    let timer = 0;
    const update = (data: T | null, problem: Problem | null) => {
      if (!control.signal.aborted) answer.value = { path, data, problem };
    };
    const refresh = async () => {
      if (!document.hidden) {
        try {
          update(await fetchJson<T>(path, control.signal), null);
        } catch (error) {
          const previous = answer.peek().path === path ? answer.peek().data : null;
          if (error instanceof Problem) update(error.status === 404 ? null : previous, error);
        }
      }
      if (everySeconds && !control.signal.aborted)
        timer = window.setTimeout(() => void refresh(), everySeconds * 1000);
    };
    void refresh();
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [path, everySeconds, connectionCount.value]);

  return answer.value.path === path ? answer.value : { data: null, problem: null };
}
