import { isOver, stageSizes, timeLeft, type Operation } from "../api/operation";
import { count, percent } from "../text/numbers";
import { both } from "../text/query";
import { tasksHref } from "../text/route";
import { coarse } from "../text/times";
import { Card } from "../ui/page";
import { Icon } from "../ui/icon";
import { useNow } from "../ui/time";
import { ProgressBar } from "./operations";

export function OperationProgress({ operation }: { operation: Operation }) {
  const { done, succeeded, failed, refused, total } = operation.progress;
  const share = total > 0 ? done / total : isOver(operation) ? 1 : 0;
  const part = percent(Math.min(1, share));
  const left = timeLeft(operation, useNow());
  const replays = operation.action === "replay";
  const canary = replays && operation.options.canary;
  return (
    <Card
      title="Progress"
      aside={<span class="faint">{left === undefined ? part : `${part}, about ${coarse(left)} left`}</span>}
    >
      <div class="progress-large">
        <ProgressBar operation={operation} />
      </div>
      <dl class="figures" aria-live="polite">
        <Figure name={replays ? "brought back" : "discarded"} value={done} of={total} />
        {canary && <Figure name="succeeded" value={succeeded} tone="green" />}
        {canary && <Figure name="failed again" value={failed} tone={failed > 0 ? "red" : ""} />}
        {canary && <Figure name="under way" value={Math.max(0, done - succeeded - failed)} tone="blue" />}
        <Figure name="refused" value={refused} />
      </dl>
      {failed > 0 && operation.query && (
        <p class="failed-again">
          <a href={tasksHref(both(operation.query, "replays>0"))}>See those that failed again</a>
        </p>
      )}
      {canary && <Stages operation={operation} />}
    </Card>
  );
}

function Figure({ name, value, of, tone = "" }: { name: string; value: number; of?: number; tone?: string }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd class={tone && value > 0 ? `text-${tone}` : undefined}>
        {count(value)}
        {of !== undefined && <span class="faint small"> of {count(of)}</span>}
      </dd>
    </div>
  );
}

const stageNames = ["1 task", "10 tasks", "the rest"];

/** The canary's way: one, ten, the rest; each only if the one before went well. */
function Stages({ operation }: { operation: Operation }) {
  const { stage, state } = operation;
  const number = state === "done" ? stageSizes.length + 1 : (stage?.number ?? 0);
  return (
    <ol class="stages" aria-label="Stages of the canary">
      {stageSizes.map((_, index) => {
        const here = index + 1 === number;
        const kind = index + 1 < number ? "past" : here ? (state === "stopped" ? "stopped" : "now") : "ahead";
        return (
          <li key={index} class={`stage stage-${kind}`} aria-current={here ? "step" : undefined}>
            <span class="stage-mark">
              {kind === "past" ? (
                <Icon name="check" size={14} />
              ) : kind === "stopped" ? (
                <Icon name="close" size={14} />
              ) : (
                index + 1
              )}
            </span>
            <span class="stage-name">{stageNames[index]}</span>
            <span class="stage-text">
              {here && stage ? stageText(stage) : kind === "past" ? "went well" : ""}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function stageText(stage: NonNullable<Operation["stage"]>): string {
  const parts = [
    stage.succeeded > 0 && `${count(stage.succeeded)} succeeded`,
    stage.failed > 0 && `${count(stage.failed)} failed`,
    stage.waiting > 0 && `${count(stage.waiting)} under way`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : "beginning";
}
