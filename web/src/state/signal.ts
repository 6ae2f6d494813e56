// A value that components follow.
import { useEffect, useState } from "preact/hooks";

export class Signal<T> {
  private readonly listeners = new Set<() => void>();
  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    if (Object.is(value, this.current)) return;
    this.current = value;
    for (const listener of [...this.listeners]) listener();
  }

  /** Returns how to stop listening. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export function useSignal<T>(signal: Signal<T>): T {
  const [, redraw] = useState({});
  useEffect(() => {
    redraw({}); // it may have changed between the first drawing and now
    return signal.listen(() => redraw({}));
  }, [signal]);
  return signal.value;
}
