// What time it is at the server: "3 s ago" of a browser whose clock is wrong would be nonsense.
let ahead = 0; // by how much the server's clock is

/** `date` is the header of an answer, which has whole seconds. */
export function noteServerTime(date: string | null): void {
  const there = date ? Date.parse(date) : NaN;
  if (Number.isNaN(there)) return;
  const difference = there + 500 - Date.now();
  ahead = Math.abs(difference) < 2000 ? 0 : difference;
}

export function serverNow(): number {
  return Date.now() + ahead;
}
