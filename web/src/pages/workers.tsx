import { get } from "../api/client";
import type { Worker } from "../api/types";
import { useResource } from "../state/resource";
import { count, counted } from "../text/numbers";
import { taskHref } from "../text/route";
import { Badge } from "../ui/badge";
import { Card, PageHead } from "../ui/page";
import { Empty, Notice, Shown } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Since, Time } from "../ui/time";
import { shortId } from "./task_table";

type Running = Worker["tasks"][number];

export function WorkersPage() {
  const workers = useResource(
    "workers",
    (signal) => get<{ workers: Worker[]; complete: boolean }>("/v1/workers", signal),
    { on: ["task"], every: 2000 },
  );
  const running = workers.data?.workers.reduce((sum, worker) => sum + worker.running, 0) ?? 0;
  return (
    <>
      <PageHead
        title="Workers"
        name="Workers"
        text={
          workers.data &&
          `${counted(running, "task runs", "tasks run")} at ${counted(workers.data.workers.length, "worker")}`
        }
      />
      <Shown of={workers}>
        {(data) => (
          <>
            {!data.complete && (
              <Notice tone="amber" title="There is more than is shown">
                <p>Only the first 1,000 running tasks were looked at.</p>
              </Notice>
            )}
            {data.workers.length === 0 ? (
              <Card>
                <Empty icon="workers" title="Nothing runs">
                  Whoever runs a task is shown here, with the task and since when.
                </Empty>
              </Card>
            ) : (
              data.workers.map((worker) => <WorkerCard key={worker.name} worker={worker} />)
            )}
          </>
        )}
      </Shown>
    </>
  );
}

function WorkerCard({ worker }: { worker: Worker }) {
  return (
    <Card
      flush
      title={
        <span class="worker-name">
          <span class="mono clip" title={worker.name}>
            {worker.name.replace(/^away:/, "")}
          </span>
          {worker.elsewhere && (
            <Badge tone="accent" title="It claims tasks over HTTP">
              elsewhere
            </Badge>
          )}
        </span>
      }
      aside={<span class="faint">{count(worker.running)} running</span>}
    >
      <Table
        label={`What ${worker.name} runs`}
        columns={columns}
        rows={worker.tasks}
        keyOf={(task) => task.id}
        rowClass={() => "row-click"}
      />
    </Card>
  );
}

const columns: Column<Running>[] = [
  {
    title: "Task",
    main: true,
    wide: true,
    cell: (task) => (
      <span class="task-name">
        <a class="strong row-link clip" href={taskHref(task.id)}>
          {task.type}
        </a>
        <span class="mono faint small" title={task.id}>
          {shortId(task.id)}
        </span>
      </span>
    ),
  },
  { title: "Queue", cell: (task) => <span class="clip">{task.queue}</span> },
  { title: "Attempt", align: "right", cell: (task) => task.attempt },
  { title: "For", align: "right", cell: (task) => <Since at={task.since} /> },
  { title: "Lease ends", align: "right", cell: (task) => <Time at={task.lease_end} /> },
];
