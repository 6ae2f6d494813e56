import { loadTask, type Content, type WholeTask } from "../api/task";
import { useResource } from "../state/resource";
import { mayOperate } from "../state/session";
import { bytes } from "../text/numbers";
import { groupHref, hrefTo, taskHref, tasksHref } from "../text/route";
import { term } from "../text/query";
import { StateBadge } from "../ui/badge";
import { Copy } from "../ui/copy";
import { JsonView } from "../ui/json_view";
import { Card, Fact, PageHead } from "../ui/page";
import { Shown, Skeleton } from "../ui/states";
import { Time } from "../ui/time";
import { TaskActions } from "./task_actions";
import { reasonText } from "./task_table";
import { FailureBox, Timeline } from "./timeline";

export function useTask(id: string) {
  return useResource(`task:${id}`, (signal) => loadTask(id, signal), { on: ["task"], every: 10_000 });
}

export function TaskPage({ id }: { id: string }) {
  const task = useTask(id);
  const data = task.data;
  return (
    <>
      <PageHead
        up={{ href: hrefTo("tasks"), title: "Tasks" }}
        title={
          <span class="title-row">
            <span class="break">{data?.type ?? "Task"}</span>
            {data && <StateBadge state={data.state} />}
          </span>
        }
        name={data?.type ?? "Task"}
        text={
          <span class="id-line">
            <code>{id}</code>
            <Copy text={id} label="Copy the id" />
          </span>
        }
        actions={data && mayOperate() && <TaskActions task={data} />}
      />
      <Shown of={task} skeleton={<Skeleton rows={6} tall />}>
        {(whole) => (
          <div class="columns">
            <div class="columns-main">
              <TaskStory task={whole} />
            </div>
            <div class="columns-side">
              <Facts task={whole} />
              <Lineage task={whole} />
            </div>
          </div>
        )}
      </Shown>
    </>
  );
}

/** What went wrong, what it is about, what came out, and how it went. Also of a task that is looked at in its group. */
export function TaskStory({ task, inGroup = false }: { task: WholeTask; inGroup?: boolean }) {
  const ended = task.state === "dead" || task.state === "failed" || task.state === "retrying";
  return (
    <>
      {task.last_failure && ended && (
        <Card
          title="What went wrong"
          aside={task.group && !inGroup && <a href={groupHref(task.group)}>All that failed alike</a>}
        >
          {task.dead_reason && (
            <p class="reason">{reasons[task.dead_reason] ?? reasonText(task.dead_reason)}</p>
          )}
          <FailureBox failure={task.last_failure} />
        </Card>
      )}
      <ContentCard title="Payload" content={task.payloadContent} none="It has no payload." />
      {(task.resultContent || task.state === "succeeded") && (
        <ContentCard title="Result" content={task.resultContent} none="It gave no result." />
      )}
      <Card title="What happened">
        <Timeline task={task} />
      </Card>
    </>
  );
}

const reasons: Record<string, string> = {
  out_of_attempts: "All its attempts were used up.",
  crashes: "It took its worker down too often. It comes back only for somebody who insists.",
  ambiguous: "It may have happened in spite of the error. It comes back only for somebody who insists.",
  deadline: "Its next attempt could not begin before its deadline.",
  throttled_too_long: "It was put off too often, by throttles or open breakers.",
  replays: "It died again after as many replays as it may have. It comes back only for somebody who insists.",
};

function ContentCard({
  title,
  content,
  none,
}: {
  title: string;
  content: Content | undefined;
  none: string;
}) {
  const sizes = { json: "JSON", text: "text", binary: "bytes, in base64" };
  return (
    <Card
      title={title}
      aside={content && <span class="faint">{`${sizes[content.form]}, ${bytes(content.text.length)}`}</span>}
    >
      {content ? <JsonView text={content.text} label={title.toLowerCase()} /> : <p class="faint">{none}</p>}
    </Card>
  );
}

function Facts({ task }: { task: WholeTask }) {
  return (
    <Card title="Facts">
      <dl class="facts">
        <Fact name="Queue">
          <a href={tasksHref(term("queue", task.queue))}>{task.queue}</a>
        </Fact>
        <Fact name="Attempts">{task.attempts}</Fact>
        {task.crashes > 0 && <Fact name="Crashes">{task.crashes}</Fact>}
        {task.deferrals > 0 && <Fact name="Put off">{task.deferrals}</Fact>}
        {task.replays > 0 && <Fact name="Replays">{task.replays}</Fact>}
        <Fact name="Priority">{task.priority}</Fact>
        <Fact name="Handed in">
          <Time at={task.created} />
        </Fact>
        <Fact name={`${task.state} since`}>
          <Time at={task.changed} />
        </Fact>
        {(task.state === "pending" || task.state === "retrying") && (
          <Fact name="Due">
            <Time at={task.due} />
          </Fact>
        )}
        {task.deadline && (
          <Fact name="Deadline">
            <Time at={task.deadline} />
          </Fact>
        )}
        {task.key && (
          <Fact name="Key">
            <code class="break">{task.key}</code>
          </Fact>
        )}
        {task.trace && (
          <Fact name="Trace">
            <code class="break">{task.trace}</code>
          </Fact>
        )}
        {task.group && (
          <Fact name="Group">
            <a class="mono" href={groupHref(task.group)}>
              {task.group}
            </a>
          </Fact>
        )}
      </dl>
    </Card>
  );
}

function Lineage({ task }: { task: WholeTask }) {
  if (!task.edited_from && !task.edited_as && task.replays === 0) return null;
  return (
    <Card title="Lineage">
      <ul class="lineage">
        {task.edited_from && (
          <li>
            Edited copy of{" "}
            <a class="mono" href={taskHref(task.edited_from)}>
              {task.edited_from}
            </a>
          </li>
        )}
        {task.replays > 0 && <li>Brought back {task.replays === 1 ? "once" : `${task.replays} times`}</li>}
        {task.edited_as && (
          <li>
            Edited, and handed in again as{" "}
            <a class="mono" href={taskHref(task.edited_as)}>
              {task.edited_as}
            </a>
          </li>
        )}
      </ul>
    </Card>
  );
}
