// What went wrong, in groups: failures that differ only in their numbers, ids and addresses are one.
import { useMemo, useState } from "preact/hooks";
import { get } from "../api/client";
import type { Wanted } from "../api/group";
import type { Group } from "../api/types";
import { usePages, type LoadPage } from "../state/pages";
import { useStats } from "../state/shared";
import { compact, count, counted } from "../text/numbers";
import { groupHref, tasksHref } from "../text/route";
import { Badge, StateBadge } from "../ui/badge";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { Card, PageHead } from "../ui/page";
import { Segments } from "../ui/segments";
import { Sparkline } from "../ui/sparkline";
import { Empty, Shown, Skeleton } from "../ui/states";
import { Time } from "../ui/time";
import { LoadAll, useFiltered } from "./group_filter";

const loadGroups: LoadPage<Group> = async (cursor, signal) => {
  const search = new URLSearchParams({ limit: "100" });
  if (cursor) search.set("cursor", cursor);
  const page = await get<{ groups: Group[]; next?: string }>(`/v1/dead/groups?${search.toString()}`, signal);
  return { items: page.groups, next: page.next };
};

export function DeadPage() {
  const groups = usePages<Group>("groups", loadGroups, ["task"], 10_000);
  const stats = useStats();
  const [wanted, setWanted] = useState<Wanted>({ text: "", state: "any", cause: "any" });
  const tasks = stats.data?.totals.tasks;
  return (
    <>
      <PageHead
        title="Dead letters"
        name="Dead letters"
        text={tasks && `${counted(tasks.dead, "dead letter")}, and ${count(tasks.failed)} given up at once`}
        actions={
          <a class="button button-plain" href={tasksHref("state:dead")}>
            <Icon name="tasks" size={16} />
            <span>As a list of tasks</span>
          </a>
        }
      />
      <Shown of={groups} skeleton={<Skeleton rows={6} tall />}>
        {(data) =>
          data.items.length === 0 && !data.next ? (
            <Card>
              <Empty icon="check" title="No dead letters">
                Nothing has been given up. What fails too often comes here, in groups of what failed alike.
              </Empty>
            </Card>
          ) : (
            <Groups
              all={data.items}
              more={data.next !== undefined}
              list={groups}
              wanted={wanted}
              setWanted={setWanted}
            />
          )
        }
      </Shown>
    </>
  );
}

const mostDrawn = 100;

function Groups({
  all,
  more,
  list,
  wanted,
  setWanted,
}: {
  all: Group[];
  more: boolean;
  list: { more: () => void; loadingMore: boolean };
  wanted: Wanted;
  setWanted: (wanted: Wanted) => void;
}) {
  const [drawn, setDrawn] = useState(mostDrawn);
  const filter = useFiltered(all, more, wanted);
  const shown = useMemo(() => filter.groups.slice(0, drawn), [filter.groups, drawn]);
  const canDraw = filter.groups.length > drawn;
  return (
    <>
      <div class="filter-row">
        <div class="query-form query-small">
          <Icon name="search" />
          <input
            class="query-input"
            data-query
            aria-label="Filter groups"
            placeholder="Error, type or queue"
            value={wanted.text}
            onInput={(event) => setWanted({ ...wanted, text: event.currentTarget.value })}
          />
          <kbd class="query-key" aria-hidden="true">
            /
          </kbd>
        </div>
        <Segments
          label="State"
          value={wanted.state}
          options={{ any: "All", dead: "Dead", failed: "Given up" }}
          onChange={(state) => setWanted({ ...wanted, state })}
        />
        <Segments
          label="How it failed"
          value={wanted.cause}
          options={{ any: "Any cause", error: "Errors", timeout: "Timeouts", crash: "Crashes" }}
          onChange={(cause) => setWanted({ ...wanted, cause })}
        />
      </div>
      <LoadAll filter={filter} />
      {shown.length === 0 ? (
        <Card>
          <Empty icon="search" title="No group matches">
            <Button onClick={() => setWanted({ text: "", state: "any", cause: "any" })}>
              Show all groups
            </Button>
          </Empty>
        </Card>
      ) : (
        <ul class="groups">
          {shown.map((group) => (
            <GroupRow key={group.id + group.state} group={group} />
          ))}
        </ul>
      )}
      {(canDraw || (more && !filter.isFiltering)) && (
        <footer class="table-foot">
          <Button
            busy={list.loadingMore}
            onClick={() =>
              canDraw ? setDrawn(drawn + mostDrawn) : (list.more(), setDrawn(drawn + mostDrawn))
            }
          >
            Show more
          </Button>
        </footer>
      )}
    </>
  );
}

function GroupRow({ group }: { group: Group }) {
  return (
    <li class="group card">
      <div class="group-count">
        <strong title={counted(group.count, "task")}>{compact(group.count)}</strong>
        <StateBadge state={group.state} />
      </div>
      <div class="group-body">
        <a class="group-error row-link" href={groupHref(group.id)}>
          {group.example}
        </a>
        <div class="group-marks">
          <Causes group={group} />
          {group.types.slice(0, 3).map((type) => (
            <span key={type.name} class="tag" title={counted(type.count, "task")}>
              {type.name}
            </span>
          ))}
          {group.types.length > 3 && <span class="faint small">and {group.types.length - 3} more types</span>}
          <span class="faint small">
            in{" "}
            {group.queues
              .slice(0, 3)
              .map((queue) => queue.name)
              .join(", ")}
          </span>
        </div>
      </div>
      <div class="group-trend">
        <Sparkline
          values={group.trend}
          label={`By hour, over a day: ${counted(group.last_day, "came", "came")}, ${count(group.last_hour)} of them in the last hour`}
        />
        <span class="faint small">
          {group.last_hour > 0
            ? `${compact(group.last_hour)} in the last hour`
            : `${compact(group.last_day)} in the last day`}
        </span>
      </div>
      <div class="group-when faint small">
        <span>
          last <Time at={group.last_seen} />
        </span>
        <span>
          first <Time at={group.first_seen} />
        </span>
      </div>
    </li>
  );
}

export function Causes({ group }: { group: Group }) {
  const { timeout, crash } = group.came_by;
  return (
    <>
      {timeout > 0 && <Badge tone="amber">{compact(timeout)} timed out</Badge>}
      {crash > 0 && <Badge tone="red">{compact(crash)} crashed</Badge>}
    </>
  );
}
