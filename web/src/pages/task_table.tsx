import { get } from "../api/client";
import type { Task } from "../api/types";
import type { LoadPage } from "../state/pages";
import { taskHref } from "../text/route";
import { StateBadge } from "../ui/badge";
import { Table, type Column } from "../ui/table";
import { Time } from "../ui/time";

const pageSize = 50;

export function loadTasks(query: string): LoadPage<Task> {
  return async (cursor, signal) => {
    const search = new URLSearchParams({ limit: String(pageSize) });
    if (query) search.set("q", query);
    if (cursor) search.set("cursor", cursor);
    const page = await get<{ tasks: Task[]; next?: string }>(`/v1/tasks?${search.toString()}`, signal);
    return { items: page.tasks, next: page.next };
  };
}

/** The end of an id: its beginning is the time, which many have in common. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}

export function reasonText(reason: string | undefined): string {
  return (reason ?? "").replaceAll("_", " ");
}

const columns: Column<Task>[] = [
  {
    title: "Task",
    main: true,
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
  {
    title: "State",
    bare: true,
    cell: (task) => <StateBadge state={task.state} title={reasonText(task.dead_reason)} />,
  },
  { title: "Queue", cell: (task) => <span class="clip">{task.queue}</span> },
  {
    title: "Attempts",
    align: "right",
    cell: (task) =>
      task.attempts + task.crashes > 0 ? task.attempts + task.crashes : <span class="faint">0</span>,
  },
  {
    title: "Last error",
    wide: true,
    last: true,
    cell: (task) =>
      task.last_failure &&
      task.state !== "succeeded" && (
        <span class="mono small clip error-text" title={task.last_failure.message}>
          {task.last_failure.message}
        </span>
      ),
  },
  { title: "Changed", bare: true, align: "right", cell: (task) => <Time at={task.changed} /> },
];

export function TaskTable({ tasks }: { tasks: Task[] }) {
  return (
    <Table
      label="Tasks"
      columns={columns}
      rows={tasks}
      keyOf={(task) => task.id}
      rowClass={() => "row-click"}
    />
  );
}
