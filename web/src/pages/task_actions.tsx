import { useState } from "preact/hooks";
import { post } from "../api/client";
import type { WholeTask } from "../api/task";
import { refreshAll } from "../state/resource";
import { ask } from "../ui/ask";
import { Button } from "../ui/button";
import { attempt } from "../ui/toast";
import { EditTask } from "./edit_task";

const quarantined = new Set(["crashes", "ambiguous", "replays"]);

/** What may be done with a task as it stands. */
export function TaskActions({ task }: { task: WholeTask }) {
  const [edits, setEdits] = useState(false);
  const parked = task.state === "dead" || task.state === "failed";
  const open = task.state === "pending" || task.state === "retrying" || task.state === "running";
  const path = `/v1/tasks/${encodeURIComponent(task.id)}`;
  return (
    <>
      {parked && (
        <>
          <Button icon="trash" onClick={() => void discard(task, path)}>
            Discard
          </Button>
          <Button icon="edit" onClick={() => setEdits(true)}>
            Edit & replay
          </Button>
          <Button icon="retry" kind="primary" onClick={() => void retry(task, path)}>
            Retry
          </Button>
        </>
      )}
      {open && (
        <Button icon="stop" kind="danger" onClick={() => void cancel(task, path)}>
          Cancel
        </Button>
      )}
      {edits && <EditTask task={task} onClose={() => setEdits(false)} />}
    </>
  );
}

async function retry(task: WholeTask, path: string): Promise<void> {
  const insist = task.state === "dead" && quarantined.has(task.dead_reason ?? "");
  if (insist) {
    const answer = await ask({
      title: "Bring it back all the same?",
      text: "It was put aside for a person to look at. If whatever made it dangerous is still there, it will happen again.",
      action: "Insist",
      danger: true,
    });
    if (answer === null) return;
  }
  await attempt(() => post(`${path}/retry${insist ? "?insist=true" : ""}`), "It is pending again");
  refreshAll();
}

async function discard(task: WholeTask, path: string): Promise<void> {
  const reason = await ask({
    title: "Discard this task?",
    text: `${task.type} will not be run again. It is kept as canceled.`,
    action: "Discard",
    danger: true,
    field: { label: "Reason", required: true, hint: "It is kept with the task, and in the audit log." },
  });
  if (reason === null) return;
  await attempt(() => post(`${path}/discard`, { reason }), "It is discarded");
  refreshAll();
}

async function cancel(task: WholeTask, path: string): Promise<void> {
  const answer = await ask({
    title: "Cancel this task?",
    text:
      task.state === "running"
        ? "It is being run. What it has done already is not taken back."
        : "It will not be run.",
    action: "Cancel the task",
    danger: true,
  });
  if (answer === null) return;
  await attempt(() => post(`${path}/cancel`), "It is canceled");
  refreshAll();
}
