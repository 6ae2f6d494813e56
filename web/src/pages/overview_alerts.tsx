// What is wrong by the thresholds of the configuration, and how near the rest is to it.
import type { Broker, Check, CheckName, Stats } from "../api/types";
import { count, percent } from "../text/numbers";
import { hrefTo } from "../text/route";
import { duration } from "../text/times";
import { Badge } from "../ui/badge";
import { Icon } from "../ui/icon";
import { Card } from "../ui/page";
import { Time } from "../ui/time";

interface Meaning {
  title: string;
  format: (value: number) => string;
  href: string;
  look: string; // where to look
}

const share = (value: number) => percent(value);
const meanings: Record<CheckName, Meaning> = {
  dead_letters: { title: "New dead letters", format: count, href: hrefTo("dead"), look: "See the groups" },
  retry_rate: {
    title: "Retry rate",
    format: share,
    href: hrefTo("tasks", { q: "state:retrying" }),
    look: "See what is retried",
  },
  timeout_rate: {
    title: "Timeout rate",
    format: share,
    href: hrefTo("tasks", { q: 'error:"timed out"' }),
    look: "See what timed out",
  },
  backlog_age: {
    title: "Longest wait",
    format: (value) => duration(value * 1000),
    href: hrefTo("queues"),
    look: "See the queues",
  },
};

export function FiringAlerts({ stats }: { stats: Stats }) {
  if (stats.alerts.length === 0) return null;
  return (
    <ul class="alerts notice-red" aria-label="Alerts">
      {stats.alerts.map((alert) => (
        <li key={alert.alert}>
          <Icon name="bolt" />
          <p class="alert-text">
            <strong>{capital(alert.text)}</strong>{" "}
            <span class="nowrap">
              since <Time at={alert.since} />
            </span>
          </p>
          {meanings[alert.alert] && <a href={meanings[alert.alert].href}>{meanings[alert.alert].look}</a>}
        </li>
      ))}
    </ul>
  );
}

export function BrokerProblems({ stats }: { stats: Stats }) {
  const problems = stats.brokers.filter((broker) => broker.text);
  if (problems.length === 0) return null;
  return (
    <ul class="alerts notice-red" aria-label="Brokers that cannot be used">
      {problems.map((broker) => (
        <li key={broker.broker}>
          <Icon name="bolt" />
          <p class="alert-text">{broker.text}</p>
        </li>
      ))}
    </ul>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export function Checks({ stats }: { stats: Stats }) {
  const firing = stats.checks.filter((check) => check.firing).length;
  return (
    <Card
      title="Alert thresholds"
      aside={firing > 0 ? <Badge tone="red">{firing} firing</Badge> : <Badge tone="green">all well</Badge>}
    >
      <ul class="checks">
        {stats.checks.map((check) => (
          <CheckRow key={check.alert} check={check} />
        ))}
      </ul>
    </Card>
  );
}

function CheckRow({ check }: { check: Check }) {
  const { title, format, href } = meanings[check.alert];
  const { threshold } = check;
  const part = threshold === null ? 0 : threshold === 0 ? 1 : Math.min(1, check.value / threshold);
  const tone = check.firing ? "red" : part > 0.7 ? "amber" : "green";
  return (
    <li class="check">
      <div class="check-head">
        <a href={href}>{title}</a>
        <span class="check-value">
          <strong>{format(check.value)}</strong>
          <span class="faint"> {threshold === null ? "· off" : `of ${format(threshold)}`}</span>
        </span>
      </div>
      <div class="meter" aria-hidden="true">
        <span class={`meter-fill tone-${tone}`} style={{ width: `${part * 100}%` }} />
      </div>
    </li>
  );
}

function stateOf(broker: Broker): string {
  if (broker.text) return broker.connected ? "blocked" : "missing";
  return broker.connected ? "connected" : "not tried yet";
}

export function Brokers({ stats }: { stats: Stats }) {
  if (stats.brokers.length === 0) return null;
  return (
    <Card title="Brokers">
      <ul class="lines">
        {stats.brokers.map((broker) => (
          <li key={broker.broker}>
            <span class="clip">{broker.name}</span>
            <Badge tone={broker.text ? "red" : broker.connected ? "green" : "amber"}>{stateOf(broker)}</Badge>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function Breakers({ stats }: { stats: Stats }) {
  if (stats.breakers.length === 0) return null;
  return (
    <Card title="Breakers">
      <ul class="lines">
        {stats.breakers.map((breaker) => (
          <li key={breaker.dependency}>
            <span class="clip">{breaker.dependency}</span>
            <span class="nowrap">
              {breaker.state === "open" && breaker.retry_in_seconds !== undefined && (
                <span class="faint">again in {duration(breaker.retry_in_seconds * 1000)} </span>
              )}
              <Badge tone={breaker.state === "open" ? "red" : breaker.state === "closed" ? "green" : "amber"}>
                {breaker.state.replace("_", " ")}
              </Badge>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
