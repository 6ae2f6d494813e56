import { useState } from "preact/hooks";
import { get } from "../api/client";
import type { Group, Task } from "../api/types";
import { replaceWith } from "../state/location";
import { usePages } from "../state/pages";
import { useResource } from "../state/resource";
import { mayOperate } from "../state/session";
import { compact, count, counted } from "../text/numbers";
import { both } from "../text/query";
import { hrefTo } from "../text/route";
import { Badge, StateBadge } from "../ui/badge";
import { Button } from "../ui/button";
import { Copy } from "../ui/copy";
import { Card, Fact, PageHead } from "../ui/page";
import { QueryField } from "../ui/query_field";
import { Segments } from "../ui/segments";
import { Sparkline } from "../ui/sparkline";
import { Empty, Shown, Skeleton } from "../ui/states";
import { Time } from "../ui/time";
import { GroupTasks } from "./group_tasks";
import { planDiscard, planReplay } from "./plan";
import { loadTasks } from "./task_table";

export function GroupPage({ id, query }: { id: string; query: string }) {
  const groups = useResource(
    `group:${id}`,
    (signal) => get<{ groups: Group[] }>(`/v1/dead/groups/${encodeURIComponent(id)}`, signal),
    { on: ["task"], every: 10_000 },
  );
  const [state, setState] = useState<"dead" | "failed">();
  const gone = groups.problem?.status === 404;
  const all = gone ? [] : (groups.data?.groups ?? []);
  const group = all.find((one) => one.state === state) ?? all[0];
  if (gone)
    return (
      <>
        <PageHead
          up={{ href: hrefTo("dead"), title: "Dead letters" }}
          title="This group is empty"
          name="Group"
        />
        <Card>
          <Empty icon="check" title="Nothing is left in it">
            All of its tasks were brought back or discarded.{" "}
            <a href={hrefTo("operations")}>See the replays</a>, or{" "}
            <a href={hrefTo("dead")}>the other groups</a>.
          </Empty>
        </Card>
      </>
    );
  return (
    <Shown of={groups} skeleton={<Skeleton rows={6} tall />}>
      {() =>
        group && (
          <GroupView key={group.state} group={group} query={query}>
            {all.length > 1 && (
              <Segments
                label="State"
                value={group.state}
                options={{ dead: "Dead", failed: "Given up" }}
                onChange={setState}
              />
            )}
          </GroupView>
        )
      }
    </Shown>
  );
}

function GroupView({
  group,
  query,
  children,
}: {
  group: Group;
  query: string;
  children: preact.ComponentChildren;
}) {
  const whole = both(`group:${group.id} state:${group.state}`, query);
  const tasks = usePages<Task>(`group-tasks:${whole}`, loadTasks(whole), ["task"], 10_000);
  const path = `dead/${group.id}`;
  return (
    <>
      <PageHead
        up={{ href: hrefTo("dead"), title: "Dead letters" }}
        title={
          <span class="title-row">
            {counted(group.count, "task")} <StateBadge state={group.state} />
          </span>
        }
        name={group.example.slice(0, 60)}
        text={
          <span class="id-line">
            group <code>{group.id}</code>
            <Copy text={group.id} label="Copy the id" />
          </span>
        }
        actions={
          <>
            {children}
            {mayOperate() && (
              <>
                <Button icon="trash" onClick={() => void planDiscard(whole)}>
                  Discard …
                </Button>
                <Button icon="operations" kind="primary" onClick={() => void planReplay(whole)}>
                  Plan a replay
                </Button>
              </>
            )}
          </>
        }
      />
      <pre class="failure-text failure-large" tabIndex={0} aria-label="Example of the error">
        {group.example}
      </pre>
      <GroupFacts group={group} />
      <h2 class="section-title">Its tasks</h2>
      <QueryField
        value={query}
        label="Filter within the group"
        placeholder="Only some of them: attempts>3 payload.user.id:42"
        onChange={(next) => replaceWith(hrefTo(path, { q: next }))}
      />
      <Shown of={tasks} skeleton={<Skeleton rows={5} />}>
        {(data) => <GroupTasks tasks={data.items} list={tasks} filtered={query !== ""} />}
      </Shown>
    </>
  );
}

function GroupFacts({ group }: { group: Group }) {
  const { error, timeout, crash } = group.came_by;
  return (
    <div class="group-facts card">
      <div class="group-chart">
        <Sparkline
          values={group.trend}
          width={300}
          height={64}
          label={`Arrivals by hour, over a day: ${group.trend.join(", ")}`}
        />
        <p class="faint small">
          {counted(group.last_hour, "came", "came")} in the last hour, {count(group.last_day)} in the last day
        </p>
      </div>
      <dl class="facts facts-wide">
        <Fact name="First seen">
          <Time at={group.first_seen} />
        </Fact>
        <Fact name="Last seen">
          <Time at={group.last_seen} />
        </Fact>
        <Fact name="Came by">
          <span class="marks">
            {error > 0 && <Badge tone="orange">{compact(error)} errors</Badge>}
            {timeout > 0 && <Badge tone="amber">{compact(timeout)} timeouts</Badge>}
            {crash > 0 && <Badge tone="red">{compact(crash)} crashes</Badge>}
          </span>
        </Fact>
        <Fact name="Types">
          <Names of={group.types} />
        </Fact>
        <Fact name="Queues">
          <Names of={group.queues} />
        </Fact>
      </dl>
    </div>
  );
}

function Names({ of }: { of: { name: string; count: number }[] }) {
  return (
    <span class="marks">
      {of.map((one) => (
        <span key={one.name} class="tag" title={counted(one.count, "task")}>
          {one.name} <span class="tag-count">{compact(one.count)}</span>
        </span>
      ))}
    </span>
  );
}
