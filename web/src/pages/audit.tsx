import { get } from "../api/client";
import type { AuditEntry } from "../api/types";
import { usePages, type LoadPage } from "../state/pages";
import { count } from "../text/numbers";
import { hrefOf } from "../text/audit_href";
import { Badge } from "../ui/badge";
import { LinkButton } from "../ui/button";
import { Card } from "../ui/page";
import { Empty, Shown, Skeleton } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Time } from "../ui/time";
import { ReplaysHead } from "./operations";
import { More } from "./tasks";

const loadEntries: LoadPage<AuditEntry> = async (cursor, signal) => {
  const search = new URLSearchParams({ limit: "50" });
  if (cursor) search.set("cursor", cursor);
  const page = await get<{ entries: AuditEntry[]; next?: string }>(`/v1/audit?${search.toString()}`, signal);
  return { items: page.entries, next: page.next };
};

export function AuditPage() {
  const entries = usePages<AuditEntry>("audit", loadEntries, ["operation", "queue"], 5000);
  return (
    <>
      <ReplaysHead
        tab="audit"
        text="Who changed what, how much of it, and when."
        actions={
          <LinkButton href="/v1/audit?format=jsonl" download="holdfast-audit.jsonl" icon="download">
            Download
          </LinkButton>
        }
      />
      <Shown of={entries} skeleton={<Skeleton rows={6} />}>
        {(data) =>
          data.items.length === 0 ? (
            <Card>
              <Empty icon="tasks" title="Nobody has changed anything yet">
                Every replay, discard, cancel, edit and pause is written down here, and every scheduled
                recovery.
              </Empty>
            </Card>
          ) : (
            <Card flush>
              <Table label="Audit log" columns={columns} rows={data.items} keyOf={(entry) => entry.id} />
              <More list={entries} />
            </Card>
          )
        }
      </Shown>
    </>
  );
}

const columns: Column<AuditEntry>[] = [
  { title: "When", main: true, cell: (entry) => <Time at={entry.time} /> },
  { title: "Who", cell: (entry) => <span class="strong clip">{entry.who || "this machine"}</span> },
  {
    title: "Action",
    cell: (entry) => (
      <Badge tone={/discard|cancel/.test(entry.action) ? "red" : "accent"}>
        {entry.action.replace(".", " ")}
      </Badge>
    ),
  },
  { title: "What", wide: true, cell: (entry) => <What entry={entry} /> },
  { title: "Tasks", align: "right", cell: (entry) => <Amounts entry={entry} /> },
];

function What({ entry }: { entry: AuditEntry }) {
  const href = hrefOf(entry);
  return (
    <div class="what">
      {href ? (
        <a class="mono small break" href={href}>
          {entry.what}
        </a>
      ) : (
        <span class="mono small break">{entry.what}</span>
      )}
      {entry.reason && <span class="reason-text">“{entry.reason}”</span>}
    </div>
  );
}

function Amounts({ entry }: { entry: AuditEntry }) {
  return (
    <span class="nowrap">
      {entry.count > 0 ? count(entry.count) : <span class="faint">–</span>}
      {entry.refused > 0 && <span class="faint small"> ({count(entry.refused)} refused)</span>}
    </span>
  );
}
