// Brokers, their dead-letter queues and recoveries, as the server tells of them.
import type { Tone } from "../ui/badge";

export interface BrokerQueue {
  name: string;
  kind: string;
  ready?: number;
  unacknowledged?: number;
  consumers?: number;
  approximate: boolean;
  delivery_limit?: number;
  dead_letter?: { exchange: string; routing_key: string };
  rates?: { over: string; change: number; in?: number; out?: number };
  oldest_published?: string;
  recovery?: string;
}

export interface Broker {
  name: string;
  url: string;
  kind: "rabbitmq" | "sqs";
  patterns: string[];
  reachable?: boolean;
  since?: string;
  error?: string;
  looked?: string;
  queues: BrokerQueue[];
}

export interface RecoveryRequest {
  broker: string;
  queue: string;
  map?: Record<string, string | { exchange?: string; routing_key: string }>;
  to_origin?: "exchange" | "queue";
  to?: string;
  park?: string;
  filter?: string[];
  limit?: number;
  rate?: number;
  dry_run?: boolean;
  reason?: string;
}

export type RecoveryState = "running" | "done" | "failed" | "canceled" | "interrupted";

export interface RecoveryPlanRow {
  what: "recover" | "keep" | "leave";
  type?: string;
  to?: string;
  why?: string;
  reason?: string;
  example?: string;
  count: number;
  target_missing?: boolean;
}

export interface Recovery {
  id: string;
  state: RecoveryState;
  request: RecoveryRequest;
  by?: string;
  started: string;
  changed: string;
  ended?: string;
  run?: string;
  why?: string;
  error?: string;
  complete: boolean;
  progress: {
    found?: number;
    left?: number;
    recovered: number;
    failed: number;
    skipped: number;
    not_chosen: number;
    parked: number;
    recognised: number;
    possible_duplicates: number;
    would_recover: number;
    would_fail: number;
  };
  targets: { name: string; count: number }[];
  kept: { name: string; count: number }[];
  plan?: RecoveryPlanRow[];
  warnings: string[];
}

export interface SampledMessage {
  id: string;
  type: string;
  reason: string;
  origin: string;
  error?: string;
  died?: string;
  redelivered: boolean;
  size: number;
  headers: Record<string, string>;
  body: string;
  cut: boolean;
  text: boolean;
}

/** Of the first messages of a queue; nothing is said of the others. */
export interface QueueSample {
  found?: number;
  seen: number;
  oldest?: string;
  types: { name: string; count: number }[];
  reasons: { name: string; count: number }[];
  origins: { name: string; count: number }[];
  errors: { group: string; example: string; count: number }[];
  messages: SampledMessage[];
}

export const recoveryTones: Record<RecoveryState, Tone> = {
  running: "blue",
  done: "green",
  failed: "red",
  canceled: "neutral",
  interrupted: "red",
};

export function depthOf(queue: BrokerQueue): number | undefined {
  return queue.ready === undefined ? undefined : queue.ready + (queue.unacknowledged ?? 0);
}

/** Messages that it is done with. */
export function handled({ progress }: Recovery): number {
  const { recovered, failed, skipped, not_chosen, recognised, would_recover, would_fail } = progress;
  return recovered + failed + skipped + not_chosen + recognised + would_recover + would_fail;
}

/** Where its messages go. */
export function whereTo({ to, to_origin, map, park }: RecoveryRequest): string {
  if (to) return `into queue ${to}`;
  if (to_origin === "queue") return "into the queues where they first died";
  if (to_origin === "exchange") return "to the exchanges of their first deaths";
  if (map) return `by a map of ${Object.keys(map).length} types`;
  return `all of them, as they are, into ${park ?? "no queue"}`;
}

/** What a plan is carried out with: the same, and not only to look. */
export function inEarnest(request: RecoveryRequest): RecoveryRequest {
  return { ...request, dry_run: false };
}
