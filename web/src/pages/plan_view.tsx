// What an operation would do: how many, where, and which it would leave alone and why.
import type { Operation } from "../api/operation";
import { count, counted } from "../text/numbers";
import { taskHref } from "../text/route";
import { Badge } from "../ui/badge";
import { Card } from "../ui/page";
import { Notice, Skeleton } from "../ui/states";
import { shortId } from "./task_table";

export function PlanView({ operation }: { operation: Operation }) {
  const { plan, state } = operation;
  if (!plan)
    return (
      <Card title="Plan">
        {state === "planning" ? <Skeleton rows={3} /> : <p class="faint">There is no plan.</p>}
      </Card>
    );
  const verb = operation.action === "replay" ? "brought back" : "discarded";
  const pausedQueues = plan.queues.filter((queue) => queue.paused);
  const refused = plan.refused.reduce((sum, one) => sum + one.count, 0);
  return (
    <>
      <Card
        title="Plan"
        aside={!plan.complete && <Badge tone="accent">{`looking: ${count(plan.looked)} so far`}</Badge>}
      >
        <dl class="figures">
          <div class="figure">
            <dt>match</dt>
            <dd>{count(plan.matching)}</dd>
          </div>
          <div class="figure">
            <dt>would be {verb}</dt>
            <dd class="text-green">{count(plan.possible)}</dd>
          </div>
          <div class="figure">
            <dt>would be refused</dt>
            <dd class={refused > 0 ? "text-red" : undefined}>{count(refused)}</dd>
          </div>
        </dl>
        {pausedQueues.length > 0 && operation.action === "replay" && (
          <Notice tone="amber" title={pausedQueues.length === 1 ? "A queue is paused" : "Queues are paused"}>
            <p>
              What comes back to {pausedQueues.map((queue) => queue.name).join(", ")} waits there until it is
              resumed.
            </p>
          </Notice>
        )}
        <div class="plan-tables">
          <PlanTable
            title="Queues"
            rows={plan.queues.map((queue) => ({ ...queue, mark: queue.paused ? "paused" : "" }))}
          />
          <PlanTable title="Types" rows={plan.types.map((type) => ({ ...type, mark: "" }))} />
        </div>
      </Card>
      {plan.refused.length > 0 && (
        <Card title={`Refused: ${counted(refused, "task")}`}>
          <ul class="refused">
            {plan.refused.map((one) => (
              <li key={one.why}>
                <strong>{count(one.count)}</strong>
                <span class="break">{one.why}</span>
                <a class="mono small" href={taskHref(one.example)} title={one.example}>
                  for one {shortId(one.example)}
                </a>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  );
}

function PlanTable({
  title,
  rows,
}: {
  title: string;
  rows: { name: string; count: number; mark: string }[];
}) {
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th scope="col">{title}</th>
          <th scope="col" class="right">
            Tasks
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td class="break">
              {row.name} {row.mark && <Badge tone="amber">{row.mark}</Badge>}
            </td>
            <td class="right">{count(row.count)}</td>
          </tr>
        ))}
        {rows.length === 0 && (
          <tr>
            <td class="faint" colSpan={2}>
              none
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
