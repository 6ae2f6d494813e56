// An operation: one replay or discard of many dead letters, kept by the server.
import type { Named } from "./types";

export type OperationState =
  "planning" | "planned" | "running" | "waiting" | "paused" | "stopped" | "done" | "canceled" | "failed";

export interface OperationOptions {
  canary: boolean;
  stop_at: number;
  rate: number | null;
  cap: number | null;
  reset: boolean;
  insist: boolean;
}

export interface Plan {
  complete: boolean;
  looked: number;
  matching: number;
  possible: number;
  queues: (Named & { paused: boolean })[];
  types: Named[];
  refused: { why: string; count: number; example: string }[];
}

export interface Stage {
  number: number;
  size: number | null; // null: the rest
  done: number;
  succeeded: number;
  failed: number;
  waiting: number;
}

export interface Operation {
  id: string;
  action: "replay" | "discard";
  state: OperationState;
  query?: string;
  ids?: string[];
  by: string;
  reason?: string;
  created: string;
  changed: string;
  started?: string;
  ended?: string;
  options: OperationOptions;
  plan?: Plan;
  stage?: Stage | null;
  progress: { done: number; refused: number; succeeded: number; failed: number; total: number };
  why?: string;
}

export const stageSizes = [1, 10, null] as const;

/** Whether something still happens to it, or may. */
export function isOver(operation: Operation): boolean {
  return ["done", "canceled", "failed"].includes(operation.state);
}

export function isBeforeStart(operation: Operation): boolean {
  return operation.state === "planning" || operation.state === "planned";
}

export function mayPause(operation: Operation): boolean {
  return operation.state === "running" || operation.state === "waiting";
}

export function mayResume(operation: Operation): boolean {
  return operation.state === "paused" || operation.state === "stopped";
}

/** Which dead letters it is about, in words. */
export function subject(operation: Operation): string {
  if (operation.query) return operation.query;
  const ids = operation.ids?.length ?? 0;
  return ids === 1 ? `task ${operation.ids?.[0]}` : ids > 0 ? `${ids} tasks` : "all dead letters";
}

/** The group that it is about, if it is about one. */
export function groupOf(operation: Operation): string {
  return /(?:^|\s)group:([0-9a-f]{16})(?:\s|$)/.exec(operation.query ?? "")?.[1] ?? "";
}

/** About how many milliseconds it has left, if it goes on as it went; nothing while that would be a guess. */
export function timeLeft(operation: Operation, now: number): number | undefined {
  const { done, total } = operation.progress;
  const begun = operation.started ? Date.parse(operation.started) : NaN;
  const early = operation.options.canary && operation.stage?.number !== stageSizes.length;
  if (operation.state !== "running" || early || Number.isNaN(begun) || done < 20 || done >= total)
    return undefined;
  return ((now - begun) / done) * (total - done);
}
