// The brokers of the configuration and their dead-letter queues.
import { get } from "../api/client";
import { depthOf, type Broker, type BrokerQueue } from "../api/broker";
import { useResource } from "../state/resource";
import { count, counted, rate } from "../text/numbers";
import { brokerQueueHref, recoveryHref } from "../text/route";
import { Badge } from "../ui/badge";
import { Card, PageHead } from "../ui/page";
import { Empty, Notice, Shown, Skeleton } from "../ui/states";
import { Table, type Column } from "../ui/table";
import { Time } from "../ui/time";
import { RecoveriesCard } from "./recoveries_card";

export function useBrokers() {
  return useResource(
    "brokers",
    async (signal) => {
      const { brokers } = await get<{ brokers: { name: string }[] }>("/v1/brokers", signal);
      return Promise.all(
        brokers.map(({ name }) => get<Broker>(`/v1/brokers/${encodeURIComponent(name)}/queues`, signal)),
      );
    },
    { every: 5000 },
  );
}

export function BrokersPage() {
  const brokers = useBrokers();
  return (
    <>
      <PageHead
        title="Brokers"
        name="Brokers"
        text="Dead-letter queues of message brokers: what is in them, and how to bring it back. Open a queue to plan a recovery."
      />
      <Shown of={brokers} skeleton={<Skeleton rows={5} />}>
        {(data) =>
          data.length === 0 ? (
            <Card>
              <Empty icon="brokers" title="No broker is configured">
                Name one in the server's configuration: a table <code>[broker.NAME]</code> with its{" "}
                <code>url</code>.
              </Empty>
            </Card>
          ) : (
            <>
              {data.map((broker) => (
                <BrokerCard key={broker.name} broker={broker} />
              ))}
              <RecoveriesCard />
            </>
          )
        }
      </Shown>
    </>
  );
}

function BrokerCard({ broker }: { broker: Broker }) {
  const messages = broker.queues.reduce((sum, queue) => sum + (depthOf(queue) ?? 0), 0);
  return (
    <Card
      title={broker.name}
      flush
      aside={<span class="faint">{broker.looked ? counted(messages, "message") : "not seen yet"}</span>}
    >
      <p class="card-part faint">
        <code class="break">{broker.url}</code>
      </p>
      {broker.reachable === false && (
        <div class="card-part">
          <Notice tone="red" title="Its queues cannot be listed">
            <p class="break">{broker.error}</p>
            <p class="faint">
              Since <Time at={broker.since} />. {broker.looked && "What is below was seen before that."}
            </p>
          </Notice>
        </div>
      )}
      {broker.queues.length > 0 ? (
        <Table
          label={`Dead-letter queues of ${broker.name}`}
          columns={columnsOf(broker)}
          rows={broker.queues}
          keyOf={(queue) => queue.name}
          rowClass={() => "row-click"}
        />
      ) : (
        broker.looked && <Empty title="No such queue">Patterns: {broker.patterns.join(", ")}</Empty>
      )}
    </Card>
  );
}

function columnsOf(broker: Broker): Column<BrokerQueue>[] {
  return [
    {
      title: "Queue",
      main: true,
      cell: (queue) => (
        <span class="queue-name">
          <a class="strong clip row-link" href={brokerQueueHref(broker.name, queue.name)} title={queue.name}>
            {queue.name}
          </a>
          {queue.recovery && (
            <a href={recoveryHref(queue.recovery)}>
              <Badge tone="blue">being recovered</Badge>
            </a>
          )}
        </span>
      ),
    },
    { title: "Kind", cell: (queue) => <Kind queue={queue} /> },
    { title: "Messages", align: "right", cell: (queue) => <Depth queue={queue} /> },
    { title: "In", align: "right", cell: (queue) => <Speed queue={queue} of="in" /> },
    { title: "Out", align: "right", cell: (queue) => <Speed queue={queue} of="out" /> },
    {
      title: "Oldest published",
      align: "right",
      cell: (queue) => <Time at={queue.oldest_published} />,
    },
  ];
}

function Kind({ queue }: { queue: BrokerQueue }) {
  return (
    <span class="nowrap">
      {queue.kind}
      {queue.delivery_limit !== undefined && (
        <span class="faint small" title="After so many returns a message is dropped or dead-lettered">
          {" "}
          limit {count(queue.delivery_limit)}
        </span>
      )}
    </span>
  );
}

function Depth({ queue }: { queue: BrokerQueue }) {
  if (queue.ready === undefined) return <span class="faint">unknown</span>;
  const held = queue.unacknowledged ?? 0;
  return (
    <span class="nowrap" title={`${count(queue.ready)} ready, ${count(held)} delivered and not settled`}>
      <span class={queue.ready > 0 ? "strong" : "faint"}>{count(queue.ready)}</span>
      {held > 0 && <span class="faint small"> + {count(held)}</span>}
    </span>
  );
}

function Speed({ queue, of }: { queue: BrokerQueue; of: "in" | "out" }) {
  const speed = queue.rates?.[of];
  if (speed === undefined) return <span class="faint">–</span>;
  return <span title={`over the last ${queue.rates?.over}, as far as the broker tells`}>{rate(speed)}</span>;
}
