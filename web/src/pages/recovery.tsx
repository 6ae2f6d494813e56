// One recovery of a dead-letter queue: a plan, one under way, or what came of it.
import {
  handled,
  inEarnest,
  whereTo,
  type Recovery,
  type RecoveryPlanRow,
  type RecoveryRequest,
} from "../api/broker";
import { get, post } from "../api/client";
import { put, refreshAll, useResource } from "../state/resource";
import { mayOperate } from "../state/session";
import { count, counted, percent } from "../text/numbers";
import { brokerQueueHref } from "../text/route";
import { ask } from "../ui/ask";
import { Button } from "../ui/button";
import { Card, Fact, PageHead } from "../ui/page";
import { Bar } from "../ui/progress";
import { Notice, Shown, Skeleton } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Time } from "../ui/time";
import { attempt } from "../ui/toast";
import { RecoveryBadge } from "./recoveries_card";
import { beginRecovery } from "./recover_form";

export function RecoveryPage({ id }: { id: string }) {
  const recovery = useResource(
    `recovery:${id}`,
    (signal) => get<Recovery>(`/v1/recoveries/${encodeURIComponent(id)}`, signal),
    { every: 1000 },
  );
  return (
    <Shown of={recovery} skeleton={<Skeleton rows={6} tall />}>
      {(data) => (
        <>
          <Head recovery={data} />
          <End recovery={data} />
          <div class="columns">
            <div class="columns-main">
              <Progress recovery={data} />
              {data.plan && data.plan.length > 0 && <Plan rows={data.plan} />}
              <Counts title="Recovered to" rows={data.targets} />
              <Counts title="Kept, because" rows={data.kept} />
              <Warnings warnings={data.warnings} />
            </div>
            <div class="columns-side">
              <How recovery={data} />
            </div>
          </div>
        </>
      )}
    </Shown>
  );
}

function Head({ recovery }: { recovery: Recovery }) {
  const { request } = recovery;
  const name = request.dry_run ? "Plan of a recovery" : "Recovery";
  return (
    <PageHead
      up={{ href: brokerQueueHref(request.broker, request.queue), title: request.queue }}
      title={
        <span class="title-row">
          {name} <RecoveryBadge recovery={recovery} />
        </span>
      }
      name={name}
      text={
        <>
          {request.queue} at {request.broker}, {whereTo(request)} · by{" "}
          {recovery.by || "somebody on this machine"}, <Time at={recovery.started} />
          {request.reason && ` · “${request.reason}”`}
        </>
      }
      actions={mayOperate() && <Actions recovery={recovery} />}
    />
  );
}

async function carryOut(request: RecoveryRequest, messages: number): Promise<void> {
  const answer = await ask({
    title: `Recover ${counted(messages, "message")}?`,
    text: `They go ${whereTo(request)}. A message leaves ${request.queue} only when the broker has confirmed its copy.`,
    action: "Recover",
  });
  if (answer !== null) await beginRecovery(inEarnest(request), "The recovery has begun");
}

function Actions({ recovery }: { recovery: Recovery }) {
  const { request, progress } = recovery;
  const cancel = async () => {
    const path = `/v1/recoveries/${encodeURIComponent(recovery.id)}/cancel`;
    const changed = await attempt(
      () => post<Recovery>(path),
      "It ends as soon as what is under way has ended",
    );
    if (changed) put(`recovery:${recovery.id}`, changed);
    refreshAll("recover");
  };
  if (recovery.state === "running")
    return (
      <Button icon="close" onClick={() => void cancel()}>
        Cancel
      </Button>
    );
  if (!request.dry_run || recovery.state !== "done") return null;
  const moves = request.to || request.to_origin || request.map;
  const messages = moves ? progress.would_recover : progress.skipped;
  return (
    <Button
      icon="play"
      kind="primary"
      disabled={messages === 0}
      onClick={() => void carryOut(request, messages)}
    >
      {messages === 0 ? "Nothing to do" : `${moves ? "Recover" : "Park"} ${counted(messages, "message")}`}
    </Button>
  );
}

function End({ recovery }: { recovery: Recovery }) {
  if (recovery.state === "running" || (recovery.complete && !recovery.error)) return null;
  const bad = recovery.state === "failed" || recovery.state === "interrupted";
  const titles = {
    failed: "It could not go on",
    interrupted: "Interrupted",
    canceled: "Canceled",
    done: recovery.request.dry_run ? "Not all would be recovered" : "Some messages were kept or left",
    running: "",
  };
  return (
    <Notice tone={bad ? "red" : "amber"} title={titles[recovery.state]}>
      {recovery.error && <p class="break">{recovery.error}</p>}
      {recovery.why && <p class="break">{recovery.why}</p>}
    </Notice>
  );
}

function Progress({ recovery }: { recovery: Recovery }) {
  const { progress, request } = recovery;
  const done = handled(recovery);
  const total = Math.max(Math.min(progress.found ?? done, request.limit ?? Infinity), done);
  const kept = progress.failed + progress.skipped;
  const share = total > 0 ? done / total : recovery.state === "running" ? 0 : 1;
  return (
    <Card
      title={request.dry_run ? "Looked at" : "Progress"}
      aside={<span class="faint">{percent(share)}</span>}
    >
      <div class="progress-large">
        <Bar
          total={total}
          label={`${count(done)} of ${count(total)} messages`}
          parts={[
            { tone: "green", value: progress.recovered + progress.recognised, label: "recovered" },
            { tone: "accent", value: progress.would_recover, label: "would be recovered" },
            { tone: "red", value: kept + progress.would_fail, label: "kept" },
            { tone: "neutral", value: progress.not_chosen, label: "not chosen" },
          ]}
        />
      </div>
      <dl class="figures" aria-live="polite">
        <Figure name="found" value={progress.found} />
        {request.dry_run ? (
          <>
            <Figure name="would be recovered" value={progress.would_recover} tone="green" />
            <Figure name="would fail" value={progress.would_fail} tone="red" />
            <Figure name="would be kept" value={progress.skipped} tone="red" />
          </>
        ) : (
          <>
            <Figure name="recovered" value={progress.recovered} tone="green" />
            <Figure name="kept" value={kept} tone="red" />
          </>
        )}
        {progress.not_chosen > 0 && <Figure name="not chosen" value={progress.not_chosen} />}
        {progress.possible_duplicates > 0 && (
          <Figure name="may be there twice" value={progress.possible_duplicates} tone="red" />
        )}
        {recovery.ended && <Figure name="still in the queue" value={progress.left} />}
      </dl>
    </Card>
  );
}

function Figure({ name, value, tone = "" }: { name: string; value: number | undefined; tone?: string }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd class={tone && value ? `text-${tone}` : undefined}>{value === undefined ? "–" : count(value)}</dd>
    </div>
  );
}

const planColumns: Column<RecoveryPlanRow>[] = [
  { title: "Type", main: true, cell: (row) => <span class="break">{row.type || "unknown"}</span> },
  { title: "Messages", align: "right", cell: (row) => count(row.count) },
  {
    title: "Where to",
    cell: (row) => (
      <span class={`break${row.what === "keep" || row.target_missing ? " text-red" : ""}`}>
        {row.what === "recover" ? row.to : row.what === "keep" ? `kept: ${row.why}` : "left: not chosen"}
        {row.target_missing && ", which is not there"}
      </span>
    ),
  },
  { title: "Died of", cell: (row) => <span class="break">{row.reason || "–"}</span> },
  { title: "Such as", cell: (row) => <code class="clip">{row.example || "–"}</code> },
];

function Plan({ rows }: { rows: RecoveryPlanRow[] }) {
  return (
    <Card title="What would go where" flush>
      <Table
        label="What would go where"
        columns={planColumns}
        rows={rows}
        keyOf={(row) => [row.what, row.type, row.to, row.why, row.reason].join("\n")}
      />
    </Card>
  );
}

function Counts({ title, rows }: { title: string; rows: { name: string; count: number }[] }) {
  if (rows.length === 0) return null;
  return (
    <Card>
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col" class="right">
              Messages
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <td class="break">{row.name}</td>
              <td class="right">{count(row.count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Warnings({ warnings }: { warnings: string[] }) {
  if (warnings.length === 0) return null;
  return (
    <Card title="Warnings">
      <ul class="refused">
        {warnings.map((warning, index) => (
          <li key={index} class="break">
            {warning}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function How({ recovery }: { recovery: Recovery }) {
  const { request } = recovery;
  return (
    <Card title="How it runs">
      <dl class="facts">
        <Fact name="Messages">{whereTo(request)}</Fact>
        {request.park && <Fact name="Park">{request.park}</Fact>}
        {request.filter && request.filter.length > 0 && (
          <Fact name="Filter">
            <code class="break">{request.filter.join(", ")}</code>
          </Fact>
        )}
        <Fact name="At most">{request.rate ? `${count(request.rate)} a second` : "as fast as it goes"}</Fact>
        <Fact name="Limit">{request.limit ? counted(request.limit, "message") : "none"}</Fact>
        <Fact name="Started">
          <Time at={recovery.started} />
        </Fact>
        {recovery.ended && (
          <Fact name="Ended">
            <Time at={recovery.ended} />
          </Fact>
        )}
        <Fact name="Id">
          <code class="break">{recovery.id}</code>
        </Fact>
      </dl>
    </Card>
  );
}
