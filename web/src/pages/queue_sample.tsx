// The first messages of a dead-letter queue: what they are, what they died of, and they themselves.
import { useState } from "preact/hooks";
import type { QueueSample, SampledMessage } from "../api/broker";
import { post } from "../api/client";
import { refreshAll } from "../state/resource";
import { bytes, count, counted } from "../text/numbers";
import { Badge } from "../ui/badge";
import { Button } from "../ui/button";
import { Card } from "../ui/page";
import { Time } from "../ui/time";
import { attempt } from "../ui/toast";

export function QueueSampleCard({ broker, queue }: { broker: string; queue: string }) {
  const [sample, setSample] = useState<QueueSample | undefined>();
  const [busy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    const path = `/v1/brokers/${encodeURIComponent(broker)}/queues/${encodeURIComponent(queue)}/sample`;
    const seen = await attempt(() => post<QueueSample>(path, { limit: 50 }));
    setBusy(false);
    if (seen) setSample(seen);
    refreshAll("brokers");
  };
  return (
    <Card
      title="Contents"
      aside={
        sample && (
          <Badge tone="amber">{`a sample: ${count(sample.seen)} of ${count(sample.found ?? sample.seen)}`}</Badge>
        )
      }
    >
      {sample ? <Sample sample={sample} /> : <p class="faint">Nobody has looked yet.</p>}
      <div class="form">
        <Button icon="search" busy={busy} onClick={() => void look()}>
          {sample ? "Look again" : "Look at the first 50 messages"}
        </Button>
        <span class="field-hint">
          The broker marks what it showed as redelivered; a quorum queue counts a return of each.
        </span>
      </div>
    </Card>
  );
}

function Sample({ sample }: { sample: QueueSample }) {
  if (sample.seen === 0) return <p class="faint">No message is there.</p>;
  const errors = sample.errors.map(({ example, count: many }) => ({ name: example, count: many }));
  return (
    <>
      {sample.oldest && (
        <p>
          The oldest of these died <Time at={sample.oldest} />.
        </p>
      )}
      <div class="plan-tables">
        <Groups title="Type" rows={sample.types} />
        <Groups title="Died of" rows={sample.reasons} />
        <Groups title="Came from" rows={sample.origins} />
        {errors.length > 0 && <Groups title="Error" rows={errors} />}
      </div>
      {sample.messages.map((message, index) => (
        <Message key={`${index}:${message.id}`} message={message} />
      ))}
    </>
  );
}

function Groups({ title, rows }: { title: string; rows: { name: string; count: number }[] }) {
  return (
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
            <td class="break">{row.name || <span class="faint">unknown</span>}</td>
            <td class="right">{count(row.count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Message({ message }: { message: SampledMessage }) {
  const headers = Object.entries(message.headers);
  return (
    <details class="fold">
      <summary>
        <code class="break">{message.id || "no id"}</code> {message.type}, {bytes(message.size)}
      </summary>
      {message.error && <p class="text-red break">{message.error}</p>}
      <table class="plain-table">
        <tbody>
          {headers.map(([name, value]) => (
            <tr key={name}>
              <td class="break">{name}</td>
              <td class="break mono small">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="faint small">
        {message.cut ? `The first ${bytes(2048)} of the body` : "The body"}
        {!message.text && ", which is not text"}
        {headers.length > 0 && `; above it ${counted(headers.length, "header")}`}
      </p>
      <pre class="mono small break">{message.body}</pre>
    </details>
  );
}
