import { useState } from "preact/hooks";
import { get } from "../api/client";
import type { Series, Stats } from "../api/types";
import { useResource } from "../state/resource";
import { useStats, waiting } from "../state/shared";
import { amount, compact, count, percent, rate } from "../text/numbers";
import { hrefTo, tasksHref } from "../text/route";
import { duration } from "../text/times";
import { Chart } from "../ui/chart";
import { PageHead } from "../ui/page";
import { Segments } from "../ui/segments";
import { ChartsSkeleton, Shown, TilesSkeleton } from "../ui/states";
import { Breakers, BrokerProblems, Brokers, Checks, FiringAlerts } from "./overview_alerts";
import { OverviewQueues, TopGroups } from "./overview_lists";

type Span = "1h" | "24h";
const seconds: Record<Span, number> = { "1h": 3600, "24h": 86_400 };

export function OverviewPage() {
  const stats = useStats();
  const [span, setSpan] = useState<Span>("1h");
  const series = useResource(`series:${span}`, (signal) => get<Series>(`/v1/series?span=${span}`, signal), {
    every: span === "1h" ? 5000 : 60_000,
  });
  const data = stats.data;
  return (
    <>
      <PageHead
        title="Overview"
        name="Overview"
        text={
          data &&
          `Up for ${duration(data.uptime_seconds * 1000)}, tasks are kept in ${storeName(data.store.kind)}`
        }
        actions={
          <Segments
            label="How far back"
            value={span}
            options={{ "1h": "1 hour", "24h": "24 hours" }}
            onChange={setSpan}
          />
        }
      />
      <Shown of={stats} skeleton={<TilesSkeleton />}>
        {(now) => (
          <>
            <FiringAlerts stats={now} />
            <BrokerProblems stats={now} />
            <Tiles stats={now} />
          </>
        )}
      </Shown>
      {(data || !stats.problem) && (
        <div class="columns">
          <div class="columns-main">
            <Shown of={series} skeleton={<ChartsSkeleton />}>
              {(lines) => <Charts series={lines} span={seconds[span]} stats={data} />}
            </Shown>
            {data && <OverviewQueues stats={data} />}
          </div>
          <div class="columns-side">
            {data && <Checks stats={data} />}
            {data && <Breakers stats={data} />}
            {data && <Brokers stats={data} />}
            <TopGroups />
          </div>
        </div>
      )}
    </>
  );
}

function storeName(kind: string): string {
  const names: Record<string, string> = {
    sqlite: "a SQLite file",
    redis: "Redis",
    memory: "memory",
    postgres: "PostgreSQL",
  };
  return names[kind] ?? kind;
}

function Tiles({ stats }: { stats: Stats }) {
  const { tasks, rates } = stats.totals;
  const oldest = Math.max(
    0,
    ...stats.queues.filter((queue) => !queue.paused).map((queue) => queue.oldest_due_age_seconds),
  );
  return (
    <ul class="tiles">
      <Tile name="Succeeded" href={tasksHref("state:succeeded")} value={rate(rates["1m"].succeeded)}>
        {rate(rates["1m"].submitted)} handed in
      </Tile>
      <Tile
        name="Waiting"
        href={tasksHref("state:pending,retrying")}
        value={compact(waiting(tasks))}
        exact={count(waiting(tasks))}
      >
        {oldest > 1 ? `the oldest for ${duration(oldest * 1000)}` : "nothing is late"}
      </Tile>
      <Tile
        name="Running"
        href={hrefTo("workers")}
        value={compact(tasks.running)}
        exact={count(tasks.running)}
      >
        {rate(rates["1m"].attempts)} attempts
      </Tile>
      <Tile
        name="Dead letters"
        href={hrefTo("dead")}
        value={compact(tasks.dead)}
        exact={count(tasks.dead)}
        bad={tasks.dead > 0}
      >
        {tasks.failed > 0 ? `and ${compact(tasks.failed)} given up at once` : "none given up at once"}
      </Tile>
    </ul>
  );
}

function Tile({
  name,
  href,
  value,
  exact,
  bad = false,
  children,
}: {
  name: string;
  href: string;
  value: string;
  exact?: string;
  bad?: boolean;
  children: preact.ComponentChildren;
}) {
  return (
    <li>
      <a class={`tile card${bad ? " tile-bad" : ""}`} href={href}>
        <span class="tile-name">{name}</span>
        <span class="tile-value" title={exact}>
          {value}
        </span>
        <span class="tile-text">{children}</span>
      </a>
    </li>
  );
}

function share(part: number[], whole: number[]): number[] {
  return part.map((value, index) => ((whole[index] ?? 0) > 0 ? Math.min(1, value / (whole[index] ?? 1)) : 0));
}

function Charts({ series, span, stats }: { series: Series; span: number; stats: Stats | undefined }) {
  const threshold = (name: string) => stats?.checks.find((check) => check.alert === name)?.threshold ?? null;
  const common = { times: series.times, step: series.step_seconds, span };
  return (
    <div class="charts">
      <Chart
        {...common}
        title="Throughput per second"
        format={amount}
        lines={[
          { label: "done", tone: "green", values: series.succeeded, area: true },
          { label: "new", tone: "blue", values: series.submitted },
          { label: "failed", tone: "orange", values: series.failed },
        ]}
      />
      <Chart
        {...common}
        title="Dead letters"
        format={compact}
        least={4}
        lines={[{ label: "there are", tone: "red", values: series.dead_letters, area: true }]}
      />
      <Chart
        {...common}
        title="Retry rate"
        format={percent}
        least={0.1}
        threshold={threshold("retry_rate")}
        lines={[
          { label: "of attempts", tone: "amber", values: share(series.retried, series.attempts), area: true },
        ]}
      />
      <Chart
        {...common}
        title="Timeout rate"
        format={percent}
        least={0.1}
        threshold={threshold("timeout_rate")}
        lines={[
          {
            label: "of attempts",
            tone: "orange",
            values: share(series.timeouts, series.attempts),
            area: true,
          },
        ]}
      />
    </div>
  );
}
