// The stream of events. The page uses it to know when to look again, and to follow operations.
import type { Operation } from "../api/operation";
import { Signal } from "./signal";

export type EventKind = "task" | "queue" | "alert" | "operation" | "reset";

export type Connection =
  | { kind: "off" } // nobody is logged in
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "lost"; since: number; retryAt: number };

const kinds: EventKind[] = ["task", "queue", "alert", "operation", "reset"];
const waits = [500, 1000, 2000, 4000, 8000, 15_000];
// A server that runs thousands of tasks a second tells of each: past this many events a second the page asks for
// those that hardly ever come, and looks by the clock.
const mostEvents = 200;
const busyFor = 60_000;

class Live {
  readonly connection = new Signal<Connection>({ kind: "off" });
  readonly busy = new Signal(false);
  private readonly listeners = new Set<(kind: EventKind) => void>();
  private readonly operationListeners = new Set<(operation: Operation) => void>();
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private events = 0;
  private counter: ReturnType<typeof setInterval> | undefined;
  private onLost: () => void = () => {};

  onEvent(listener: (kind: EventKind) => void): void {
    this.listeners.add(listener);
  }

  onOperation(listener: (operation: Operation) => void): () => void {
    this.operationListeners.add(listener);
    return () => this.operationListeners.delete(listener);
  }

  /** `onLost` looks whether it is the session that has ended. */
  start(onLost: () => void): void {
    this.onLost = onLost;
    if (this.connection.value.kind !== "off") return;
    this.connection.set({ kind: "connecting" });
    this.counter = setInterval(() => this.look(), 1000);
    this.open();
  }

  stop(): void {
    clearInterval(this.counter);
    clearTimeout(this.timer);
    this.source?.close();
    this.source = undefined;
    this.failures = 0;
    this.connection.set({ kind: "off" });
  }

  retryNow(): void {
    if (this.connection.value.kind === "lost") this.open();
  }

  private open(): void {
    clearTimeout(this.timer);
    this.source?.close();
    const source = new EventSource(this.busy.value ? "/v1/events?state=canceled" : "/v1/events");
    this.source = source;
    source.onopen = () => {
      const wasLost = this.connection.value.kind === "lost";
      this.failures = 0;
      this.connection.set({ kind: "live" });
      if (wasLost) this.tell("reset"); // what happened meanwhile is not told again
    };
    source.onerror = () => this.lose();
    for (const kind of kinds)
      source.addEventListener(kind, (event) => {
        this.events += 1;
        if (kind === "operation") this.tellOperation(event as MessageEvent<string>);
        this.tell(kind);
      });
  }

  private lose(): void {
    this.source?.close();
    const before = this.connection.value;
    const since = before.kind === "lost" ? before.since : Date.now();
    const wait = (waits[Math.min(this.failures, waits.length - 1)] ?? 0) * (0.8 + 0.4 * Math.random());
    this.failures += 1;
    this.connection.set({ kind: "lost", since, retryAt: Date.now() + wait });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), wait);
    this.onLost();
  }

  private tell(kind: EventKind): void {
    for (const listener of this.listeners) listener(kind);
  }

  private tellOperation(event: MessageEvent<string>): void {
    const operation = JSON.parse(event.data) as Operation;
    for (const listener of [...this.operationListeners]) listener(operation);
  }

  private look(): void {
    const events = this.events;
    this.events = 0;
    if (this.busy.value || events <= mostEvents || this.connection.value.kind !== "live") {
      if (this.busy.value) for (const kind of ["task", "operation"] as const) this.tell(kind); // by the clock
      return;
    }
    this.busy.set(true);
    this.open();
    setTimeout(() => {
      this.busy.set(false);
      if (this.connection.value.kind === "live") this.open();
    }, busyFor);
  }
}

export const live = new Live();
