// What the server answers (docs/api.md). Times are RFC 3339 texts.

export const states = ["pending", "running", "retrying", "succeeded", "failed", "dead", "canceled"] as const;
export type State = (typeof states)[number];
export type Counts = Record<State, number>;

export interface Failure {
  message: string;
  kind: "error" | "timeout" | "crash";
  http_status?: number;
  exit_code?: number;
  os_error?: number;
  retry_after?: string | number;
}

/** An attempt, or what somebody did to the task: that has no failure, and no duration. */
export interface HistoryEntry {
  token?: number;
  event: string;
  started: string;
  ended: string;
  owner: string;
  failure?: Failure;
}

export interface Task {
  id: string;
  type: string;
  queue: string;
  state: State;
  dead_reason?: string;
  priority: number;
  created: string;
  due: string;
  changed: string;
  deadline?: string;
  trace?: string;
  retry_on_failure?: boolean;
  attempts: number;
  crashes: number;
  deferrals: number;
  replays: number;
  last_failure?: Failure;
  group?: string;
  key?: string;
  payload?: unknown;
  payload_text?: string;
  payload_base64?: string;
  result?: unknown;
  result_text?: string;
  result_base64?: string;
  history?: HistoryEntry[];
  edited_as?: string;
  edited_from?: string;
}

/** A page of a list; with `next` there may be more, even where this one is empty. */
export interface Page<T> {
  items: T[];
  next: string | undefined;
}

export interface Count {
  count: number;
  complete: boolean;
  looked: number;
  next?: string;
}

export interface Named {
  name: string;
  count: number;
}

export interface Group {
  id: string;
  state: "dead" | "failed";
  count: number;
  first_seen: string;
  last_seen: string;
  example: string;
  types: Named[];
  queues: Named[];
  came_by: { error: number; timeout: number; crash: number };
  last_hour: number;
  last_day: number;
  trend: number[]; // arrivals by hour, the last is this one
}

export interface Queue {
  name: string;
  paused: boolean;
  concurrency: number; // 0: no limit
  backlog?: number;
  oldest_due?: string;
  tasks: Counts;
}

export interface Rates {
  submitted: number;
  succeeded: number;
  failed: number;
  retried: number;
  dead: number;
  timeouts: number;
  attempts: number;
}
export type RatesOver = Record<"1m" | "5m" | "15m", Rates>;

export interface Alert {
  alert: CheckName;
  state: string;
  value: number;
  threshold: number;
  over?: string;
  since: string;
  text: string;
}
export type CheckName = "dead_letters" | "retry_rate" | "timeout_rate" | "backlog_age";
export interface Check {
  alert: CheckName;
  value: number;
  threshold: number | null; // null: switched off
  firing: boolean;
}

export interface QueueStats {
  name: string;
  paused: boolean;
  tasks: Counts;
  oldest_due_age_seconds: number;
  rates: RatesOver;
}

export interface Broker {
  broker: string;
  name: string;
  connected: boolean;
  blocked: boolean;
  since?: string; // it cannot be used
  text?: string;
}

export interface Stats {
  version: string;
  started: string;
  uptime_seconds: number;
  queues: QueueStats[];
  breakers: { dependency: string; state: string; retry_in_seconds?: number }[];
  brokers: Broker[];
  alerts: Alert[];
  checks: Check[];
  totals: { tasks: Counts; rates: RatesOver };
  store: { kind: string };
}

export interface Series {
  step_seconds: number;
  from: string;
  times: number[];
  submitted: number[];
  succeeded: number[];
  failed: number[];
  retried: number[];
  timeouts: number[];
  dead: number[];
  attempts: number[];
  waiting: (number | null)[]; // null: the store could not be asked
  running: (number | null)[];
  dead_letters: (number | null)[];
}

export interface Worker {
  name: string;
  elsewhere: boolean;
  running: number;
  tasks: { id: string; type: string; queue: string; since: string; lease_end: string; attempt: number }[];
}

export interface AuditEntry {
  id: string;
  time: string;
  who: string;
  action: string;
  what: string;
  count: number;
  refused: number;
  reason: string;
  operation?: string;
}

export interface Session {
  login: "none" | "token";
  name: string | null;
  role: "operate" | "submit" | "read" | "work" | null;
  version: string;
}
