// The life of a task: handed in, every attempt, what people did, where it stands.
import type { Failure, HistoryEntry, Task } from "../api/types";
import { parse, duration } from "../text/times";
import { Badge, type Tone } from "../ui/badge";
import { Clock, Since, Time } from "../ui/time";

const people = new Set(["replay", "discard", "cancel", "edit", "close"]);

const events: Record<string, { title: string; tone: Tone }> = {
  success: { title: "Succeeded", tone: "green" },
  already_done: { title: "Had been done before", tone: "green" },
  error: { title: "Failed", tone: "amber" },
  crash: { title: "Crashed", tone: "red" },
  throttle: { title: "Put off: too many requests", tone: "amber" },
  breaker_open: { title: "Put off: the breaker is open", tone: "amber" },
  give_up: { title: "Given up: trying again cannot help", tone: "orange" },
  ambiguous: { title: "Ambiguous: it may have happened", tone: "red" },
  hand_back: { title: "Handed back by a worker that ended", tone: "neutral" },
  expire: { title: "Its deadline had passed", tone: "red" },
  replay: { title: "Brought back", tone: "accent" },
  discard: { title: "Discarded", tone: "neutral" },
  cancel: { title: "Canceled", tone: "neutral" },
  edit: { title: "Edited", tone: "accent" },
  close: { title: "Given up by its queue", tone: "orange" },
};

function eventOf(entry: HistoryEntry): { title: string; tone: Tone } {
  const known = events[entry.event.replaceAll(" ", "_")] ?? { title: entry.event, tone: "neutral" as const };
  return entry.event === "error" && entry.failure?.kind === "timeout"
    ? { ...known, title: "Timed out" }
    : known;
}

export function Timeline({ task }: { task: Task }) {
  const history = task.history ?? [];
  let attempts = 0;
  return (
    <ol class="timeline">
      <li class="moment tone-neutral">
        <div class="moment-head">
          <strong>Handed in</strong>
          <span class="faint">
            <Time at={task.created} />
          </span>
        </div>
      </li>
      {history.map((entry, index) => {
        const isAttempt = !people.has(entry.event);
        if (isAttempt) attempts += 1;
        return (
          <Moment
            key={index}
            entry={entry}
            before={history[index - 1]}
            attempt={isAttempt ? attempts : undefined}
          />
        );
      })}
      <Now task={task} />
    </ol>
  );
}

function Moment({
  entry,
  before,
  attempt,
}: {
  entry: HistoryEntry;
  before: HistoryEntry | undefined;
  attempt: number | undefined;
}) {
  const { title, tone } = eventOf(entry);
  const took = parse(entry.ended) - parse(entry.started);
  const waited = before ? parse(entry.started) - parse(before.ended) : 0;
  return (
    <>
      {attempt !== undefined && waited > 500 && <li class="gap">waited {duration(waited)}</li>}
      <li class={`moment tone-${tone}`}>
        <div class="moment-head">
          <strong>{title}</strong>
          {attempt !== undefined && <span class="faint">attempt {attempt}</span>}
          {attempt !== undefined && took >= 0 && <span class="took">{duration(took)}</span>}
          <span class="moment-when">
            <Clock at={entry.ended} />
          </span>
        </div>
        {entry.failure &&
          (entry.failure.message === before?.failure?.message ? (
            <p class="faint small">with the same error</p>
          ) : (
            <FailureBox failure={entry.failure} small />
          ))}
        {entry.owner && (
          <p class="faint small clip" title={entry.owner}>
            {attempt === undefined ? `by ${entry.owner}` : `at ${entry.owner}`}
          </p>
        )}
      </li>
    </>
  );
}

function Now({ task }: { task: Task }) {
  if (task.state === "running")
    return (
      <li class="moment moment-now tone-blue">
        <strong>Runs</strong> for <Since at={task.changed} />
      </li>
    );
  if (task.state === "pending" || task.state === "retrying")
    return (
      <li class="moment moment-now tone-neutral">
        <strong>Waits</strong>, due <Time at={task.due} />
      </li>
    );
  return null;
}

export function FailureBox({ failure, small = false }: { failure: Failure; small?: boolean }) {
  return (
    <div class={`failure${small ? " failure-small" : ""}`}>
      <pre class="failure-text" tabIndex={0} aria-label="Error">
        {failure.message}
      </pre>
      <div class="failure-marks">
        {failure.kind !== "error" && (
          <Badge tone={failure.kind === "crash" ? "red" : "amber"}>{failure.kind}</Badge>
        )}
        {failure.http_status !== undefined && <Badge tone="neutral">HTTP {failure.http_status}</Badge>}
        {failure.exit_code !== undefined && <Badge tone="neutral">exit code {failure.exit_code}</Badge>}
        {failure.os_error !== undefined && <Badge tone="neutral">errno {failure.os_error}</Badge>}
      </div>
    </div>
  );
}
