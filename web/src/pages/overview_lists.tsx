import { get } from "../api/client";
import type { Group, QueueStats, Stats } from "../api/types";
import { useResource } from "../state/resource";
import { waiting } from "../state/shared";
import { compact, count, rate } from "../text/numbers";
import { groupHref, hrefTo, tasksHref } from "../text/route";
import { term } from "../text/query";
import { duration } from "../text/times";
import { Badge } from "../ui/badge";
import { Card } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Time } from "../ui/time";

const columns: Column<QueueStats>[] = [
  {
    title: "Queue",
    wide: true,
    main: true,
    cell: (queue) => (
      <span class="queue-name">
        <a class="strong clip" href={tasksHref(term("queue", queue.name))} title={queue.name}>
          {queue.name}
        </a>
        {queue.paused && <Badge tone="amber">paused</Badge>}
      </span>
    ),
  },
  { title: "Waiting", align: "right", cell: (queue) => <Amount value={waiting(queue.tasks)} /> },
  { title: "Running", align: "right", cell: (queue) => <Amount value={queue.tasks.running} /> },
  { title: "Dead", align: "right", cell: (queue) => <Amount value={queue.tasks.dead} bad /> },
  {
    title: "Oldest",
    align: "right",
    cell: (queue) =>
      queue.oldest_due_age_seconds >= 1 ? (
        duration(queue.oldest_due_age_seconds * 1000)
      ) : (
        <span class="faint">–</span>
      ),
  },
  { title: "Done", align: "right", cell: (queue) => rate(queue.rates["1m"].succeeded) },
];

export function Amount({ value, bad = false }: { value: number; bad?: boolean }) {
  if (value === 0) return <span class="faint">0</span>;
  return (
    <span class={bad ? "text-red" : undefined} title={count(value)}>
      {compact(value)}
    </span>
  );
}

export function OverviewQueues({ stats }: { stats: Stats }) {
  const most = 12;
  const queues = [...stats.queues]
    .sort((one, other) => waiting(other.tasks) - waiting(one.tasks))
    .slice(0, most);
  return (
    <Card
      title="Queues"
      flush
      aside={
        <a href={hrefTo("queues")}>
          {stats.queues.length > most ? `All ${count(stats.queues.length)}` : "All"}
        </a>
      }
    >
      {queues.length === 0 ? (
        <Empty icon="queues" title="No queue yet">
          A queue is there as soon as a task is handed in.
        </Empty>
      ) : (
        <Table label="Queues" columns={columns} rows={queues} keyOf={(queue) => queue.name} />
      )}
    </Card>
  );
}

export function TopGroups() {
  const groups = useResource(
    "groups:top",
    (signal) => get<{ groups: Group[] }>("/v1/dead/groups?limit=100", signal),
    { on: ["task"], every: 10_000 },
  );
  return (
    <Card title="Largest groups" aside={<a href={hrefTo("dead")}>All</a>}>
      <Shown of={groups}>
        {(data) =>
          data.groups.length === 0 ? (
            <Empty icon="check" title="Nothing has died" />
          ) : (
            <ul class="lines">
              {[...data.groups]
                .sort((one, other) => other.count - one.count)
                .slice(0, 6)
                .map((group) => (
                  <li key={group.id + group.state}>
                    <div class="clip">
                      <a class="mono" href={groupHref(group.id)} title={group.example}>
                        {group.example}
                      </a>
                      <div class="faint small">
                        {group.state}, last <Time at={group.last_seen} />
                      </div>
                    </div>
                    <strong title={count(group.count)}>{compact(group.count)}</strong>
                  </li>
                ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  );
}
