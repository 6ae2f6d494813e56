import { states, type Task } from "../api/types";
import { replaceWith } from "../state/location";
import { usePages } from "../state/pages";
import { mayOperate } from "../state/session";
import { valueOf, withTerm } from "../text/query";
import { tasksHref } from "../text/route";
import { Button } from "../ui/button";
import { Card, PageHead } from "../ui/page";
import { QueryField } from "../ui/query_field";
import { Empty, Shown, Skeleton } from "../ui/states";
import { CountOf } from "./count_of";
import { planReplay, planDiscard } from "./plan";
import { loadTasks, TaskTable } from "./task_table";

export function TasksPage({ query }: { query: string }) {
  const change = (next: string) => replaceWith(tasksHref(next));
  const tasks = usePages<Task>(`tasks:${query}`, loadTasks(query), ["task"], 10_000);
  const chosen = valueOf(query, "state");
  const parked = chosen !== "" && chosen.split(",").every((state) => state === "dead" || state === "failed");
  return (
    <>
      <PageHead
        title="Tasks"
        name="Tasks"
        text={<CountOf query={query} />}
        actions={
          mayOperate() &&
          parked && (
            <>
              <Button icon="trash" onClick={() => void planDiscard(query)}>
                Discard these …
              </Button>
              <Button icon="operations" kind="primary" onClick={() => void planReplay(query)}>
                Plan a replay
              </Button>
            </>
          )
        }
      />
      <QueryField value={query} onChange={change} />
      <div class="chips" role="group" aria-label="State">
        <button
          type="button"
          class="chip"
          aria-pressed={chosen === ""}
          onClick={() => change(withTerm(query, "state", ""))}
        >
          all
        </button>
        {states.map((state) => (
          <button
            key={state}
            type="button"
            class="chip"
            aria-pressed={chosen.split(",").includes(state)}
            onClick={() => change(withTerm(query, "state", chosen === state ? "" : state))}
          >
            {state}
          </button>
        ))}
      </div>
      <Shown of={tasks} skeleton={<Skeleton rows={8} />}>
        {(data) =>
          data.items.length === 0 && !data.next ? (
            <Card>
              <Empty icon="search" title={query ? "No task matches" : "No task yet"}>
                {query ? (
                  <Button onClick={() => change("")}>Show all tasks</Button>
                ) : (
                  <>
                    Hand one in: <code>holdfast submit TYPE</code>, or <code>POST /v1/tasks</code>.
                  </>
                )}
              </Empty>
            </Card>
          ) : (
            <Card flush>
              <TaskTable tasks={data.items} />
              <More list={tasks} />
            </Card>
          )
        }
      </Shown>
    </>
  );
}

export function More({
  list,
}: {
  list: {
    data: { items: unknown[]; next: string | undefined } | undefined;
    more: () => void;
    loadingMore: boolean;
    isLive: boolean;
  };
}) {
  if (!list.data?.next && list.isLive) return null;
  return (
    <footer class="table-foot">
      {list.data?.next ? (
        <Button onClick={list.more} busy={list.loadingMore}>
          {list.data.items.length === 0 ? "Look further" : "Show more"}
        </Button>
      ) : (
        <span />
      )}
      {!list.isLive && <span class="faint">A list this long does not change by itself.</span>}
    </footer>
  );
}
