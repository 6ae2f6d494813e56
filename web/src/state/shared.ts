// What several pages look at.
import { get } from "../api/client";
import type { Operation } from "../api/operation";
import type { Counts, Stats } from "../api/types";
import { useResource, type Loaded } from "./resource";

/** Every 2 seconds: ages and rates move also where nothing happens. */
export function useStats(): Loaded<Stats> {
  return useResource("stats", (signal) => get<Stats>("/v1/stats", signal), {
    on: ["alert", "queue"],
    every: 2000,
  });
}

export function useLatestOperations(): Loaded<{ operations: Operation[] }> {
  return useResource(
    "operations:latest",
    (signal) => get<{ operations: Operation[] }>("/v1/operations?limit=20", signal),
    { on: ["operation"], every: 15_000 },
  );
}

/** Those that have not ended, and are not being run. */
export function waiting(tasks: Counts): number {
  return tasks.pending + tasks.retrying;
}
