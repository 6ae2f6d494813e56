import { useEffect } from "preact/hooks";
import { serverNow } from "../state/server_clock";
import { Signal, useSignal } from "../state/signal";
import { clock, duration, exact, parse, relative } from "../text/times";

// One clock for all that tells how long ago something was.
const now = new Signal(serverNow());
let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): number {
  useEffect(() => {
    users += 1;
    timer ??= setInterval(() => document.hidden || now.set(serverNow()), 1000);
    now.set(serverNow());
    return () => {
      users -= 1;
      if (users > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, []);
  return useSignal(now);
}

/** How long ago; the exact time for whoever points at it. */
export function Time({ at }: { at: string | undefined }) {
  const time = useNow();
  const then = at ? parse(at) : NaN;
  if (Number.isNaN(then)) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={exact(then)}>
      {relative(then, time)}
    </time>
  );
}

/** The time of day, to the second. */
export function Clock({ at }: { at: string }) {
  const then = parse(at);
  return (
    <time dateTime={at} title={exact(then)}>
      {clock(then)}
    </time>
  );
}

/** How long it has been going on, and still does. */
export function Since({ at }: { at: string }) {
  const time = useNow();
  const then = parse(at);
  return (
    <time dateTime={at} title={`since ${exact(then)}`}>
      {duration(Math.max(0, time - then))}
    </time>
  );
}
