// api.ts - asks the server. Every failure is a Problem with one line for people.

import { wellFormed } from "../text/visible";
import { token, tokenWanted } from "./token";

export class Problem extends Error {
  constructor(
    readonly status: number, // 0: nobody answered
    readonly type: string,
    text: string,
    readonly suggestions: string[] = [],
    readonly taken = 0,
    readonly retrySeconds = 1,
  ) {
    super(text);
  }
}

interface ProblemBody {
  type?: string;
  title?: string;
  detail?: string;
  suggestions?: string[];
  taken?: number;
}

async function problemOf(response: Response): Promise<Problem> {
  let body: ProblemBody = {};
  try {
    body = (await response.json()) as ProblemBody;
  } catch {
    // Something between the server and us answered in its own way.
  }
  return new Problem(
    response.status,
    body.type ?? "about:blank",
    body.detail ?? body.title ?? `the server answered ${response.status}`,
    body.suggestions ?? [],
    body.taken ?? 0,
    Number(response.headers.get("Retry-After")) || 1,
  );
}

/** Whatever the server responds, with our token sent along. */
export async function reach(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  if (token.value) headers.set("Authorization", `Bearer ${token.value}`);
  try {
    return await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem(0, "about:blank", "the server does not answer");
  }
}

/** A response that is good, or a Problem thrown. */
export async function request(path: string, options: RequestInit = {}): Promise<Response> {
  const sent = token.value;
  const response = await reach(path, options);
  // What comes late says nothing about a token that was given meanwhile.
  if (response.status === 401 && token.value === sent) tokenWanted.value = true;
  if (!response.ok) throw await problemOf(response);
  return response;
}

export async function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, signal ? { signal } : {});
  return (await response.json()) as T;
}

export type Query = Record<string, string | number>;

export function withQuery(path: string, query: Query = {}): string {
  const parts = Object.entries(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(wellFormed(String(value)))}`,
  );
  return parts.length ? `${path}?${parts.join("&")}` : path;
}

/** The address of a word, or of something about it. In a path "." and ".." are steps, however
 *  they are encoded, so the query names them. */
export function wordPath(word: string, about = "", query: Query = {}): string {
  const step = word === "." || word === "..";
  const name = step ? "-" : encodeURIComponent(wellFormed(word));
  return withQuery(`/v1/words/${name}${about && `/${about}`}`, step ? { word, ...query } : query);
}
