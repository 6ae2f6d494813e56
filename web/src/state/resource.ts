// Answers of the server that components follow. One key is asked for once, however many look at it; what was
// seen last is shown while it is asked for anew, and goes on being shown, marked as stale, when that fails.
import { useEffect, useState } from "preact/hooks";
import { problemFrom, type Problem } from "../api/client";
import { live, type EventKind } from "./live";

const mostKept = 60;
const leastPause = 1000; // between two calls for one key, however much happens

export interface Loaded<T> {
  data: T | undefined;
  problem: Problem | undefined; // of the latest call
  at: number; // when `data` came
  refresh: () => void;
}

interface Watcher {
  on: EventKind[];
  every: number;
}

/** `before`: what it is to take the place of. */
type Load<T> = (signal: AbortSignal, before: T | undefined) => Promise<T>;

class Resource<T> {
  data: T | undefined;
  problem: Problem | undefined;
  at = 0;
  readonly listeners = new Map<() => void, Watcher>();
  private asked = 0;
  private call: AbortController | undefined;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pause = leastPause;

  constructor(public load: Load<T>) {}

  refresh(): void {
    if (this.call) {
      this.again = true;
      return;
    }
    clearTimeout(this.timer);
    this.timer = undefined;
    void this.ask();
  }

  /** Soon, and once for all that happens until then. */
  nudge(): void {
    if (this.timer !== undefined) return;
    const wait = Math.max(0, this.asked + this.pause - Date.now());
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.listeners.size > 0) this.refresh();
    }, wait);
  }

  put(data: T): void {
    this.data = data;
    this.problem = undefined;
    this.at = Date.now();
    for (const listener of [...this.listeners.keys()]) listener();
  }

  drop(): void {
    this.call?.abort();
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private async ask(): Promise<void> {
    const call = new AbortController();
    this.call = call;
    this.asked = Date.now();
    try {
      const data = await this.load(call.signal, this.data);
      if (call.signal.aborted) return;
      this.data = data;
      this.problem = undefined;
      this.at = Date.now();
    } catch (error) {
      if (call.signal.aborted) return;
      this.problem = problemFrom(error);
    } finally {
      this.call = undefined;
    }
    // A slow server is asked less often: a fifth of the time at most.
    this.pause = Math.max(leastPause, 5 * (Date.now() - this.asked));
    for (const listener of [...this.listeners.keys()]) listener();
    if (this.again) {
      this.again = false;
      this.nudge();
    }
  }
}

const resources = new Map<string, Resource<unknown>>();

function find<T>(key: string, load: Load<T>): Resource<T> {
  let found = resources.get(key) as Resource<T> | undefined;
  if (!found) {
    found = new Resource(load);
    for (const [old, resource] of resources) {
      if (resources.size < mostKept) break;
      if (resource.listeners.size === 0) resources.delete(old);
    }
  }
  found.load = load; // of the component that looks at it now
  resources.delete(key); // the latest is the last to go
  resources.set(key, found as Resource<unknown>);
  return found;
}

/** Of somebody else, or of a session that has ended. */
export function forgetAll(): void {
  for (const resource of resources.values()) resource.drop();
  resources.clear();
}

/** What somebody has just changed is asked for anew: all keys that begin so. */
export function refreshAll(prefix = ""): void {
  for (const [key, resource] of resources)
    if (key.startsWith(prefix) && resource.listeners.size > 0) resource.refresh();
}

/** What came by another way than by asking for it. */
export function put<T>(key: string, data: T): void {
  resources.get(key)?.put(data);
}

live.onOperation((operation) => put(`operation:${operation.id}`, operation));
live.onEvent((kind) => {
  for (const resource of resources.values())
    for (const watcher of resource.listeners.values())
      if (kind === "reset" || watcher.on.includes(kind)) {
        resource.nudge();
        break;
      }
});

/**
 * The answer for a key: asked for now, at events of the kinds `on`, and `every` so many milliseconds.
 * Key null: nothing is wanted.
 */
export function useResource<T>(
  key: string | null,
  load: Load<T>,
  { on = [], every = 0 }: Partial<Watcher> = {},
): Loaded<T> {
  const [, redraw] = useState({});
  const resource = key === null ? undefined : find(key, load);
  useEffect(() => {
    if (!resource) return;
    const listener = () => redraw({});
    resource.listeners.set(listener, { on, every });
    resource.refresh();
    const tick = every > 0 ? setInterval(() => document.hidden || resource.nudge(), every) : undefined;
    const shown = () => document.hidden || resource.nudge();
    document.addEventListener("visibilitychange", shown);
    return () => {
      resource.listeners.delete(listener);
      clearInterval(tick);
      document.removeEventListener("visibilitychange", shown);
    };
  }, [resource, every, on.join()]);
  return {
    data: resource?.data,
    problem: resource?.problem,
    at: resource?.at ?? 0,
    refresh: () => resource?.refresh(),
  };
}
