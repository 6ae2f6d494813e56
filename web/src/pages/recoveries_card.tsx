// The latest recoveries, of all queues or of one.
import { get } from "../api/client";
import { recoveryTones, whereTo, type Recovery } from "../api/broker";
import { useResource } from "../state/resource";
import { count } from "../text/numbers";
import { recoveryHref } from "../text/route";
import { Badge } from "../ui/badge";
import { Card } from "../ui/page";
import { Table, type Column } from "../ui/table";
import { Time } from "../ui/time";

export function RecoveriesCard({ broker, queue }: { broker?: string; queue?: string }) {
  const recoveries = useResource(
    "recoveries",
    (signal) => get<{ recoveries: Recovery[] }>("/v1/recoveries?limit=200", signal),
    { every: 2000 },
  );
  const rows = (recoveries.data?.recoveries ?? [])
    .filter(({ request }) => !queue || (request.broker === broker && request.queue === queue))
    .slice(0, 20);
  if (rows.length === 0) return null;
  return (
    <Card title="Recoveries" flush>
      <Table
        label="Recoveries"
        columns={queue ? columns.filter(({ title }) => title !== "Queue") : columns}
        rows={rows}
        keyOf={(recovery) => recovery.id}
        rowClass={() => "row-click"}
      />
    </Card>
  );
}

export function RecoveryBadge({ recovery }: { recovery: Recovery }) {
  const kept = recovery.state === "done" && !recovery.complete;
  return (
    <Badge tone={kept ? "amber" : recoveryTones[recovery.state]}>
      <span class={`dot${recovery.state === "running" ? " dot-pulse" : ""}`} />
      {kept ? "done, with some left" : recovery.state}
    </Badge>
  );
}

const columns: Column<Recovery>[] = [
  {
    title: "What",
    wide: true,
    main: true,
    cell: (recovery) => (
      <span class="operation-name">
        <a class="strong row-link" href={recoveryHref(recovery.id)}>
          {recovery.request.dry_run ? "Plan" : "Recovery"}
        </a>
        <span class="clip" title={whereTo(recovery.request)}>
          {whereTo(recovery.request)}
        </span>
      </span>
    ),
  },
  { title: "Queue", cell: ({ request }) => <span class="clip">{request.queue}</span> },
  { title: "State", bare: true, cell: (recovery) => <RecoveryBadge recovery={recovery} /> },
  {
    title: "Recovered",
    align: "right",
    cell: ({ request, progress }) =>
      request.dry_run ? <span class="faint">–</span> : count(progress.recovered),
  },
  { title: "By", cell: (recovery) => <span class="clip">{recovery.by || "–"}</span> },
  { title: "Begun", align: "right", cell: (recovery) => <Time at={recovery.started} /> },
];
