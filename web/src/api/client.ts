// How the page talks to the server: JSON there and back, and every error as a Problem.
import { noteServerTime } from "../state/server_clock";

/** What went wrong, in the words of a problem document. Status 0: the server could not be reached. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
  ) {
    super(detail || title);
  }
}

export function problemFrom(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem(0, "Something went wrong in the page", detail);
}

let onUnauthorized: () => void = () => {};
/** Who is told when the server wants a token. */
export function whenUnauthorized(listener: () => void): void {
  onUnauthorized = listener;
}

interface Call {
  method?: "GET" | "POST" | "DELETE";
  body?: unknown; // made JSON of
  json?: string; // or JSON already
  signal?: AbortSignal | undefined;
}

async function call(path: string, { method = "GET", body, json, signal }: Call): Promise<Response> {
  const text = json ?? (body === undefined ? undefined : JSON.stringify(body));
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      ...(signal ? { signal } : {}),
      ...(text === undefined ? {} : { body: text, headers: { "Content-Type": "application/json" } }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "The server cannot be reached", "It may be restarting, or the network is down.");
  }
  noteServerTime(response.headers.get("Date"));
  if (response.ok) return response;
  if (response.status === 401 && path !== "/v1/session") onUnauthorized();
  throw await problemOf(response);
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback = `${response.status} ${response.statusText}`.trim();
  try {
    const document: { title?: string; detail?: string } = await response.json();
    return new Problem(response.status, document.title ?? fallback, document.detail ?? "");
  } catch {
    return new Problem(response.status, fallback, "");
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call(path, { signal })).json();
}

/** The answer as it came, for what must not go through JSON.parse. */
export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  return (await call(path, { signal })).text();
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  const response = await call(path, { method: "POST", body: body ?? {} });
  return (response.status === 204 ? undefined : response.json()) as Promise<T>;
}

/** A body that is JSON already, and goes out byte for byte. */
export async function postJson<T>(path: string, json: string): Promise<T> {
  return (await call(path, { method: "POST", json })).json();
}

export async function remove(path: string): Promise<void> {
  await call(path, { method: "DELETE" });
}
