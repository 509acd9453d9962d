// api.ts - requests to the server. Every failure is thrown as a Problem with a one-line message.

import { wellFormed } from "../text/visible";
import { token, tokenRequired } from "./token";

export class Problem extends Error {
  constructor(
    readonly status: number, // 0: no response
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

async function parseProblem(response: Response): Promise<Problem> {
  let body: ProblemBody = {};
  try {
    body = (await response.json()) as ProblemBody;
  } catch {
    // Not from our server: a proxy may answer in any format.
  }
  return new Problem(
    response.status,
    body.type ?? "about:blank",
    body.detail ?? body.title ?? `the server responded with status ${response.status}`,
    body.suggestions ?? [],
    body.taken ?? 0,
    Number(response.headers.get("Retry-After")) || 1,
  );
}

/** Sends a request with the token. Returns any response. */
export async function fetchWithToken(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  if (token.value) headers.set("Authorization", `Bearer ${token.value}`);
  try {
    return await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem(0, "about:blank", "the server does not respond");
  }
}

/** Returns a successful response; throws a Problem otherwise. */
export async function request(path: string, options: RequestInit = {}): Promise<Response> {
  const sent = token.value;
  const response = await fetchWithToken(path, options);
  // A late response says nothing about a token that was entered in the meantime.
  if (response.status === 401 && token.value === sent) tokenRequired.value = true;
  if (!response.ok) throw await parseProblem(response);
  return response;
}

export async function fetchJson<T>(path: string, signal?: AbortSignal): Promise<T> {
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

/** The path of a word, or of a resource below it. "." and ".." are relative path segments even
 *  if they are encoded, so they go into the query. */
export function wordPath(word: string, resource = "", query: Query = {}): string {
  const relative = word === "." || word === "..";
  const segment = relative ? "-" : encodeURIComponent(wellFormed(word));
  return withQuery(`/v1/words/${segment}${resource && `/${resource}`}`, relative ? { word, ...query } : query);
}
