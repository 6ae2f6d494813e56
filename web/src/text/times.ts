// Times as people read them: local, relative where it is about how long ago.
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How long something took or takes: "340 ms", "2.1 s", "1 min 12 s", "3 h 4 min", "2 d 3 h". */
export function duration(ms: number): string {
  if (ms < 0) return `-${duration(-ms)}`;
  if (ms < 1) return "0 ms";
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 10 * second) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return two(ms, minute, "min", second, "s");
  if (ms < day) return two(ms, hour, "h", minute, "min");
  return two(ms, day, "d", hour, "h");
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest ? ` ${rest} ${smallName}` : ""}`;
}

/** One unit is enough for how long ago it was: "now", "12 s ago", "3 min ago", "in 5 min". */
export function relative(then: number, now: number): string {
  const away = Math.abs(now - then);
  if (away < 2 * second) return "now";
  const text = coarse(away);
  return then <= now ? `${text} ago` : `in ${text}`;
}

/** "12 s", "3 min", "2 h", "5 d" */
export function coarse(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / day)} d`;
}

/** To the millisecond, with the zone: for whoever points at it. */
export function exact(then: number, locale?: string, timeZone?: string): string {
  const format = new Intl.DateTimeFormat(locale, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    timeZoneName: "short",
    hourCycle: "h23",
    ...(timeZone ? { timeZone } : {}),
  });
  return format.format(then);
}

/** "14:03:07": within one day, where the date is plain from what stands around it. */
export function clock(then: number): string {
  return new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" }).format(then);
}

/** RFC 3339 → milliseconds; NaN for what is no time. The server tells microseconds, which Date drops. */
export function parse(text: string): number {
  return Date.parse(text);
}
