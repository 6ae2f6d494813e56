// Which groups somebody wants to see.
import type { Group } from "./types";

export interface Wanted {
  text: string;
  state: "any" | "dead" | "failed";
  cause: "any" | "error" | "timeout" | "crash";
}

export function matches(group: Group, wanted: Wanted): boolean {
  if (wanted.state !== "any" && group.state !== wanted.state) return false;
  if (wanted.cause !== "any" && group.came_by[wanted.cause] === 0) return false;
  const text = wanted.text.trim().toLowerCase();
  if (text === "") return true;
  const names = [...group.types, ...group.queues].map((one) => one.name);
  return [group.example, group.id, ...names].some((one) => one.toLowerCase().includes(text));
}
