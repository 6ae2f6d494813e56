import { get, post } from "../api/client";
import { states, type Queue, type QueueStats } from "../api/types";
import { refreshAll, useResource } from "../state/resource";
import { mayOperate } from "../state/session";
import { useStats, waiting } from "../state/shared";
import { compact, count, counted, rate } from "../text/numbers";
import { both, term } from "../text/query";
import { tasksHref } from "../text/route";
import { duration } from "../text/times";
import { ask } from "../ui/ask";
import { Badge, stateTones } from "../ui/badge";
import { Button } from "../ui/button";
import { Card, PageHead } from "../ui/page";
import { Bar } from "../ui/progress";
import { Empty, Shown } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { attempt } from "../ui/toast";

interface Row extends Queue {
  stats: QueueStats | undefined;
  deepest: number; // open tasks of the queue that has most
}

const openTasks = ({ tasks }: Queue) => waiting(tasks) + tasks.running;

export function QueuesPage() {
  const queues = useResource("queues", (signal) => get<{ queues: Queue[] }>("/v1/queues", signal), {
    on: ["queue", "task"],
    every: 5000,
  });
  const stats = useStats();
  return (
    <>
      <PageHead
        title="Queues"
        name="Queues"
        text="What waits, how fast it goes, and whether it goes at all. A paused queue still takes tasks; none of them is begun."
      />
      <Shown of={queues}>
        {(data) =>
          data.queues.length === 0 ? (
            <Card>
              <Empty icon="queues" title="No queue yet">
                A queue is there as soon as the first task is handed in to it.
              </Empty>
            </Card>
          ) : (
            <Card flush>
              <Table
                label="Queues"
                columns={mayOperate() ? [...columns, actions] : columns}
                rows={data.queues.map((queue) => ({
                  ...queue,
                  deepest: Math.max(...data.queues.map(openTasks)),
                  stats: stats.data?.queues.find((one) => one.name === queue.name),
                }))}
                keyOf={(queue) => queue.name}
              />
            </Card>
          )
        }
      </Shown>
    </>
  );
}

const columns: Column<Row>[] = [
  {
    title: "Queue",
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
  { title: "Tasks by state", wide: true, cell: (queue) => <Depth queue={queue} /> },
  {
    title: "Done",
    align: "right",
    cell: (queue) =>
      queue.stats ? <span title="over the last minute">{rate(queue.stats.rates["1m"].succeeded)}</span> : "–",
  },
  { title: "Oldest", align: "right", cell: (queue) => <Age queue={queue} /> },
  {
    title: "At once",
    align: "right",
    cell: (queue) => (queue.concurrency > 0 ? count(queue.concurrency) : <span class="faint">no limit</span>),
  },
];

const actions: Column<Row> = {
  title: "Change",
  align: "right",
  bare: true,
  cell: (queue) => (
    <span class="row-actions">
      <Button small icon="limit" label={`Limit of ${queue.name}`} onClick={() => void setLimit(queue)} />
      <Button
        small
        icon={queue.paused ? "play" : "pause"}
        kind={queue.paused ? "primary" : "plain"}
        onClick={() => void toggle(queue)}
      >
        {queue.paused ? "Resume" : "Pause"}
      </Button>
    </span>
  ),
};

/** How deep it is, beside the deepest of all. */
function Depth({ queue }: { queue: Row }) {
  const shown = states.filter((state) => queue.tasks[state] > 0);
  const open = ["running", "pending", "retrying"] as const;
  const parts = open.map((state) => ({ tone: stateTones[state], value: queue.tasks[state], label: state }));
  return (
    <div class="depth">
      <Bar
        parts={parts}
        total={queue.deepest}
        label={`${counted(waiting(queue.tasks), "task waits", "tasks wait")} in ${queue.name}`}
      />
      <ul class="depth-counts">
        {shown.map((state) => (
          <li key={state}>
            <a
              href={tasksHref(both(term("queue", queue.name), `state:${state}`))}
              title={count(queue.tasks[state])}
            >
              <span class={`swatch tone-${stateTones[state]}`} />
              {compact(queue.tasks[state])} {state}
            </a>
          </li>
        ))}
        {shown.length === 0 && <li class="faint">empty</li>}
      </ul>
    </div>
  );
}

function Age({ queue }: { queue: Row }) {
  const age = queue.stats?.oldest_due_age_seconds ?? 0;
  if (age < 1) return <span class="faint">–</span>;
  return <span class={age > 600 && !queue.paused ? "text-red" : undefined}>{duration(age * 1000)}</span>;
}

async function toggle(queue: Row): Promise<void> {
  const running = !queue.paused;
  if (running) {
    const answer = await ask({
      title: `Pause ${queue.name}?`,
      text: `${counted(waiting(queue.tasks), "task waits", "tasks wait")} in it. What runs goes on to its end; nothing else is begun until it is resumed.`,
      action: "Pause",
    });
    if (answer === null) return;
  }
  const path = `/v1/queues/${encodeURIComponent(queue.name)}/${running ? "pause" : "resume"}`;
  await attempt(() => post(path), `${queue.name} is ${running ? "paused" : "resumed"}`);
  refreshAll();
}

async function setLimit(queue: Row): Promise<void> {
  const answer = await ask({
    title: `Limit of ${queue.name}`,
    text: "How many of its tasks may run at once, over all workers.",
    action: "Set",
    field: {
      label: "Tasks at once",
      value: String(queue.concurrency),
      required: true,
      hint: "0: no limit",
      numeric: true,
    },
  });
  const concurrency = Number(answer);
  if (answer === null || !Number.isInteger(concurrency) || concurrency < 0) return;
  const path = `/v1/queues/${encodeURIComponent(queue.name)}/limit`;
  await attempt(
    () => post(path, { concurrency }),
    concurrency ? `${queue.name}: ${concurrency} at once` : `${queue.name}: no limit`,
  );
  refreshAll();
}
