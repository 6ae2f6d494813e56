import { get } from "../api/client";
import { isOver, subject, type Operation } from "../api/operation";
import { usePages, type LoadPage } from "../state/pages";
import { compact, count, percent } from "../text/numbers";
import { hrefTo, operationHref } from "../text/route";
import { OperationBadge } from "../ui/badge";
import { Card, PageHead } from "../ui/page";
import { Bar } from "../ui/progress";
import { Empty, Shown, Skeleton } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Time } from "../ui/time";
import { More } from "./tasks";

const loadOperations: LoadPage<Operation> = async (cursor, signal) => {
  const search = new URLSearchParams({ limit: "50" });
  if (cursor) search.set("cursor", cursor);
  const page = await get<{ operations: Operation[]; next?: string }>(
    `/v1/operations?${search.toString()}`,
    signal,
  );
  return { items: page.operations, next: page.next };
};

export function ReplaysHead({
  tab,
  text,
  actions,
}: {
  tab: "operations" | "audit";
  text: string;
  actions?: preact.ComponentChildren;
}) {
  return (
    <>
      <PageHead
        title="Replays"
        name={tab === "audit" ? "Audit log" : "Replays"}
        text={text}
        actions={actions}
      />
      <nav class="tabs" aria-label="Replays">
        <a href={hrefTo("operations")} aria-current={tab === "operations" ? "page" : undefined}>
          Replays and discards
        </a>
        <a href={hrefTo("audit")} aria-current={tab === "audit" ? "page" : undefined}>
          Audit log
        </a>
      </nav>
    </>
  );
}

export function OperationsPage() {
  const operations = usePages<Operation>("operations", loadOperations, ["operation"], 10_000);
  return (
    <>
      <ReplaysHead tab="operations" text="Dead letters that were, or are being, brought back or discarded." />
      <Shown of={operations} skeleton={<Skeleton rows={5} />}>
        {(data) =>
          data.items.length === 0 ? (
            <Card>
              <Empty icon="operations" title="No replay yet">
                Open a group of <a href={hrefTo("dead")}>dead letters</a> and plan one.
              </Empty>
            </Card>
          ) : (
            <Card flush>
              <Table
                label="Replays and discards"
                columns={columns}
                rows={data.items}
                keyOf={(operation) => operation.id}
                rowClass={() => "row-click"}
              />
              <More list={operations} />
            </Card>
          )
        }
      </Shown>
    </>
  );
}

const columns: Column<Operation>[] = [
  {
    title: "What",
    wide: true,
    main: true,
    cell: (operation) => (
      <span class="operation-name">
        <a class="strong row-link" href={operationHref(operation.id)}>
          {operation.action === "replay" ? "Replay" : "Discard"}
        </a>
        <code class="clip" title={subject(operation)}>
          {subject(operation)}
        </code>
      </span>
    ),
  },
  { title: "State", bare: true, cell: (operation) => <OperationBadge state={operation.state} /> },
  { title: "Progress", cell: (operation) => <Progress operation={operation} /> },
  { title: "By", cell: (operation) => <span class="clip">{operation.by || "–"}</span> },
  {
    title: "Begun",
    align: "right",
    cell: (operation) => <Time at={operation.started ?? operation.created} />,
  },
];

function Progress({ operation }: { operation: Operation }) {
  const { done, succeeded, failed, total } = operation.progress;
  if (operation.state === "planning" || operation.state === "planned")
    return (
      <span class="faint">
        {operation.plan?.complete ? `${count(operation.plan.possible)} possible` : "being planned"}
      </span>
    );
  const share = total > 0 ? done / total : isOver(operation) ? 1 : 0;
  return (
    <div class="small-progress">
      <ProgressBar operation={operation} />
      <span
        class="small faint nowrap"
        title={
          operation.options.canary
            ? `${count(done)} of ${count(total)}; ${count(succeeded)} succeeded, ${count(failed)} failed`
            : `${count(done)} of ${count(total)}`
        }
      >
        {compact(done)} of {compact(total)} · {percent(share)}
      </span>
    </div>
  );
}

export function ProgressBar({ operation }: { operation: Operation }) {
  const { done, succeeded, failed, refused, total } = operation.progress;
  const open = Math.max(0, done - succeeded - failed);
  return (
    <Bar
      total={total}
      label={`${count(done)} of ${count(total)} done`}
      parts={
        !operation.options.canary
          ? [
              {
                tone: "accent",
                value: done,
                label: operation.action === "discard" ? "discarded" : "brought back",
              },
            ]
          : [
              { tone: "green", value: succeeded, label: "succeeded" },
              { tone: "red", value: failed, label: "failed again" },
              { tone: "blue", value: open, label: "under way" },
              { tone: "neutral", value: Math.min(refused, Math.max(0, total - done)), label: "refused" },
            ]
      }
    />
  );
}
