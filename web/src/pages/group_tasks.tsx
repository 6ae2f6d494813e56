// The tasks of a group, each of which can be looked at in its place.
import { useState } from "preact/hooks";
import type { Page, Task } from "../api/types";
import { mayOperate } from "../state/session";
import { taskHref } from "../text/route";
import { Icon } from "../ui/icon";
import { Card } from "../ui/page";
import { Empty, Shown } from "../ui/states";
import { Time } from "../ui/time";
import { TaskStory, useTask } from "./task";
import { TaskActions } from "./task_actions";
import { reasonText, shortId } from "./task_table";
import { More } from "./tasks";

export function GroupTasks({
  tasks,
  list,
  filtered,
}: {
  tasks: Task[];
  list: { data: Page<Task> | undefined; more: () => void; loadingMore: boolean; isLive: boolean };
  filtered: boolean;
}) {
  const [open, setOpen] = useState("");
  if (tasks.length === 0 && !list.data?.next)
    return (
      <Card>
        <Empty icon="search" title={filtered ? "None of its tasks matches" : "Nothing is left in it"} />
      </Card>
    );
  return (
    <Card flush>
      <ul class="inspect">
        {tasks.map((task) => (
          <li key={task.id}>
            <button
              type="button"
              class="inspect-row"
              aria-expanded={open === task.id}
              onClick={() => setOpen(open === task.id ? "" : task.id)}
            >
              <Icon name="chevron" size={16} />
              <span class="mono small inspect-id">{shortId(task.id)}</span>
              <span class="strong clip">{task.type}</span>
              <span class="faint clip">{task.queue}</span>
              <span class="mono small clip error-text inspect-error">{task.last_failure?.message}</span>
              <span class="faint nowrap" title={reasonText(task.dead_reason)}>
                <Time at={task.changed} />
              </span>
            </button>
            {open === task.id && <Inside id={task.id} />}
          </li>
        ))}
      </ul>
      <More list={list} />
    </Card>
  );
}

function Inside({ id }: { id: string }) {
  const task = useTask(id);
  return (
    <div class="inspect-body">
      <Shown of={task}>
        {(whole) => (
          <>
            <div class="inspect-head">
              <a href={taskHref(id)}>Open the task</a>
              {mayOperate() && (
                <span class="row-actions">
                  <TaskActions task={whole} />
                </span>
              )}
            </div>
            <TaskStory task={whole} inGroup />
          </>
        )}
      </Shown>
    </div>
  );
}
