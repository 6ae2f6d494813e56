import { get } from "../api/client";
import type { Count } from "../api/types";
import { useResource } from "../state/resource";
import { count, counted } from "../text/numbers";

const mostCalls = 10;

/** How many match: where the server has to look at each, it is asked some times, and the rest stays open. */
export async function countTasks(query: string, signal: AbortSignal): Promise<Count> {
  let all: Count = { count: 0, complete: false, looked: 0 };
  for (let calls = 0; calls < mostCalls && !all.complete; calls += 1) {
    const search = new URLSearchParams(query ? { q: query } : {});
    if (all.next) search.set("cursor", all.next);
    const part = await get<Count>(`/v1/tasks/count?${search.toString()}`, signal);
    const next = part.next === undefined ? {} : { next: part.next };
    all = {
      count: all.count + part.count,
      looked: all.looked + part.looked,
      complete: part.complete,
      ...next,
    };
    if (part.next === undefined) break;
  }
  return all;
}

export function CountOf({ query }: { query: string }) {
  const found = useResource(`count:${query}`, (signal) => countTasks(query, signal), { every: 5000 });
  if (!found.data) return <span>{found.problem ? "Not counted" : "Counting …"}</span>;
  const { count: matching, complete, looked } = found.data;
  if (complete)
    return (
      <span>{query ? counted(matching, "task matches", "tasks match") : counted(matching, "task")}</span>
    );
  return (
    <span title={`${count(looked)} tasks were looked at`}>
      {count(matching)} or more match, among the first {count(looked)}
    </span>
  );
}
