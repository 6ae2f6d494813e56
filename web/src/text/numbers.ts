// Numbers as people read them. One language, that of the page, whatever the browser's.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** 119762 → "119,762" */
export function count(value: number): string {
  return whole.format(value);
}

/** 119762 → "119.8K", where there is little room; up to 9,999 in full. */
export function compact(value: number): string {
  return Math.abs(value) < 10_000 ? whole.format(value) : short.format(value);
}

/** 16.234 → "16.2": as much as is worth reading. */
export function amount(value: number): string {
  return value >= 10_000 ? short.format(value) : three.format(value);
}

/** "1 task", "1,204 tasks" */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Of so many a second: "0/s", "16.2/s", "4.8/min" where a second is too short for it. */
export function rate(perSecond: number): string {
  if (perSecond <= 0) return "0/s";
  if (perSecond >= 10_000) return `${short.format(perSecond)}/s`;
  if (perSecond >= 0.1) return `${three.format(perSecond)}/s`;
  const perMinute = perSecond * 60;
  return perMinute >= 0.1 ? `${three.format(perMinute)}/min` : `${three.format(perMinute * 60)}/h`;
}

/** A share from 0 to 1: "0%", "3.4%", "35%". Never "0%" or "100%" for what is not. */
export function percent(share: number): string {
  if (share <= 0) return "0%";
  if (share < 0.001) return "<0.1%";
  if (share > 0.995 && share < 1) return ">99%";
  const points = share * 100;
  return points < 10 ? `${Math.round(points * 10) / 10}%` : `${Math.round(points)}%`;
}

/** 2048 → "2 KiB" */
export function bytes(size: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let unit = 0;
  let value = size;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? counted(size, "byte") : `${three.format(value)} ${units[unit]}`;
}

/** The next number above that is easy to halve and to read: 1, 2, 4, 6, 8 or 10 times a power of ten. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8, 10].find((one) => one * power >= value * 0.999) ?? 10;
  return step * power;
}
