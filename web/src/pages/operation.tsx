// One replay or discard: its plan before it starts, how it goes from then on.
import { get, post } from "../api/client";
import {
  groupOf,
  isBeforeStart,
  isOver,
  mayPause,
  mayResume,
  subject,
  type Operation,
} from "../api/operation";
import { put, refreshAll, useResource } from "../state/resource";
import { mayOperate } from "../state/session";
import { count, counted, percent } from "../text/numbers";
import { groupHref, hrefTo, tasksHref } from "../text/route";
import { ask } from "../ui/ask";
import { OperationBadge } from "../ui/badge";
import { Button } from "../ui/button";
import { Card, Fact, PageHead } from "../ui/page";
import { Notice, Shown, Skeleton } from "../ui/states";
import { Time } from "../ui/time";
import { attempt } from "../ui/toast";
import { OperationProgress } from "./operation_progress";
import { PlanView } from "./plan_view";
import { StartForm } from "./start_form";

export function OperationPage({ id }: { id: string }) {
  const operation = useResource(
    `operation:${id}`,
    (signal) => get<Operation>(`/v1/operations/${encodeURIComponent(id)}`, signal),
    { on: ["operation"], every: 2000 },
  );
  return (
    <Shown of={operation} skeleton={<Skeleton rows={6} tall />}>
      {(data) => (
        <>
          <Head operation={data} />
          <Why operation={data} />
          {isBeforeStart(data) ? <BeforeStart operation={data} /> : <Started operation={data} />}
        </>
      )}
    </Shown>
  );
}

function Head({ operation }: { operation: Operation }) {
  const group = groupOf(operation);
  const name = operation.action === "replay" ? "Replay" : "Discard";
  return (
    <PageHead
      up={
        group
          ? { href: groupHref(group), title: "The group" }
          : { href: hrefTo("operations"), title: "Replays" }
      }
      title={
        <span class="title-row">
          {name} <OperationBadge state={operation.state} />
        </span>
      }
      name={name}
      text={
        <>
          {operation.query ? (
            <a class="mono break" href={tasksHref(operation.query)}>
              {operation.query}
            </a>
          ) : (
            <span>{subject(operation)}</span>
          )}
          <span>
            {" "}
            · by {operation.by || "somebody on this machine"}, <Time at={operation.created} />
            {operation.reason && ` · “${operation.reason}”`}
          </span>
        </>
      }
      actions={mayOperate() && <Actions operation={operation} />}
    />
  );
}

async function send(operation: Operation, verb: "pause" | "resume" | "cancel", done: string): Promise<void> {
  const path = `/v1/operations/${encodeURIComponent(operation.id)}/${verb}`;
  const changed = await attempt(() => post<Operation>(path), done);
  if (changed) put(`operation:${operation.id}`, changed);
  refreshAll("operation");
}

function Actions({ operation }: { operation: Operation }) {
  if (isOver(operation)) return null;
  const cancel = async () => {
    const left = operation.progress.total - operation.progress.done;
    const answer = isBeforeStart(operation)
      ? ""
      : await ask({
          title: `Cancel this ${operation.action}?`,
          text: `${counted(left, "task", "tasks")} will stay as they are. What is done is not taken back.`,
          action: `Cancel the ${operation.action}`,
          danger: true,
        });
    if (answer !== null) await send(operation, "cancel", "Canceled");
  };
  return (
    <>
      <Button icon="close" onClick={() => void cancel()}>
        {isBeforeStart(operation) ? "Drop the plan" : "Cancel"}
      </Button>
      {mayPause(operation) && (
        <Button icon="pause" onClick={() => void send(operation, "pause", "Paused")}>
          Pause
        </Button>
      )}
      {mayResume(operation) && (
        <Button icon="play" kind="primary" onClick={() => void send(operation, "resume", "It goes on")}>
          Resume
        </Button>
      )}
    </>
  );
}

function Why({ operation }: { operation: Operation }) {
  if (!operation.why) return null;
  const titles: Partial<Record<Operation["state"], string>> = {
    stopped: "Stopped, and nothing more is brought back",
    failed: "It could not go on",
    waiting: "Waiting for what was brought back",
    paused: "Paused",
  };
  const bad = operation.state === "stopped" || operation.state === "failed";
  return (
    <Notice
      tone={bad ? "red" : "accent"}
      icon={bad ? "warning" : "help"}
      title={titles[operation.state] ?? "Note"}
    >
      <p>{operation.why}</p>
      {operation.state === "stopped" && (
        <p class="faint">Resume looks at everything anew, and begins with one task again.</p>
      )}
    </Notice>
  );
}

function BeforeStart({ operation }: { operation: Operation }) {
  return (
    <div class="columns">
      <div class="columns-main">
        <PlanView operation={operation} />
      </div>
      <div class="columns-side">
        {mayOperate() ? (
          <StartForm key={operation.id} operation={operation} />
        ) : (
          <Card>Starting it needs a token that may operate.</Card>
        )}
      </div>
    </div>
  );
}

function Started({ operation }: { operation: Operation }) {
  const { options } = operation;
  return (
    <div class="columns">
      <div class="columns-main">
        <OperationProgress operation={operation} />
        <details class="fold">
          <summary>The plan it began with</summary>
          <PlanView operation={operation} />
        </details>
      </div>
      <div class="columns-side">
        <Card title="How it runs">
          <dl class="facts">
            {operation.action === "replay" && (
              <>
                <Fact name="Way">{options.canary ? "canary: 1, 10, the rest" : "all at once"}</Fact>
                {options.canary && <Fact name="Stops at">{percent(options.stop_at)} failing</Fact>}
                <Fact name="Attempts">{options.reset ? "start anew" : "as they were"}</Fact>
              </>
            )}
            <Fact name="At most">
              {options.rate ? `${count(options.rate)} a second` : "as fast as it goes"}
            </Fact>
            <Fact name="Cap">{options.cap ? counted(options.cap, "task") : "none"}</Fact>
            <Fact name="Started">
              <Time at={operation.started} />
            </Fact>
            {operation.ended && (
              <Fact name="Ended">
                <Time at={operation.ended} />
              </Fact>
            )}
            <Fact name="Id">
              <code class="break">{operation.id}</code>
            </Fact>
          </dl>
        </Card>
      </div>
    </div>
  );
}
