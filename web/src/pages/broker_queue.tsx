// One dead-letter queue of a broker: what is known of it, and the form that plans a recovery or begins one.
import { depthOf, type BrokerQueue } from "../api/broker";
import { mayOperate } from "../state/session";
import { count, rate } from "../text/numbers";
import { hrefTo, recoveryHref } from "../text/route";
import { LinkButton } from "../ui/button";
import { Card, Fact, PageHead } from "../ui/page";
import { Notice, Shown, Skeleton } from "../ui/states";
import { Time } from "../ui/time";
import { useBrokers } from "./brokers";
import { QueueSampleCard } from "./queue_sample";
import { RecoveriesCard } from "./recoveries_card";
import { RecoverForm } from "./recover_form";

export function BrokerQueuePage({ broker, queue }: { broker: string; queue: string }) {
  const brokers = useBrokers();
  return (
    <>
      <PageHead
        up={{ href: hrefTo("brokers"), title: "Brokers" }}
        title={queue}
        name={queue}
        text={`A dead-letter queue of ${broker}.`}
      />
      <Shown of={brokers} skeleton={<Skeleton rows={5} />}>
        {(data) => {
          const found = data.find((one) => one.name === broker)?.queues.find((one) => one.name === queue);
          return (
            <div class="columns">
              <div class="columns-main">
                {found ? (
                  <QueueFacts queue={found} />
                ) : (
                  <Notice tone="amber" title="This queue was not seen">
                    <p>The broker has not listed it, or no pattern of the configuration matches it.</p>
                  </Notice>
                )}
                {mayOperate() && <QueueSampleCard key={queue} broker={broker} queue={queue} />}
                <RecoveriesCard broker={broker} queue={queue} />
              </div>
              <div class="columns-side">
                {found?.recovery ? (
                  <Card title="Being recovered">
                    <LinkButton href={recoveryHref(found.recovery)} icon="arrow">
                      See how far it is
                    </LinkButton>
                  </Card>
                ) : mayOperate() ? (
                  <RecoverForm key={queue} broker={broker} queue={queue} />
                ) : (
                  <Card>To recover it needs a token that may operate.</Card>
                )}
              </div>
            </div>
          );
        }}
      </Shown>
    </>
  );
}

function QueueFacts({ queue }: { queue: BrokerQueue }) {
  const depth = depthOf(queue);
  const known = (value: number | undefined) => (value === undefined ? "unknown" : count(value));
  return (
    <Card title="The queue" aside={queue.approximate && <span class="faint">some seconds old</span>}>
      <dl class="figures">
        <div class="figure">
          <dt>messages</dt>
          <dd class={depth ? "text-red" : undefined}>{known(depth)}</dd>
        </div>
        <div class="figure">
          <dt>come in</dt>
          <dd>{queue.rates?.in === undefined ? "–" : rate(queue.rates.in)}</dd>
        </div>
        <div class="figure">
          <dt>go out</dt>
          <dd>{queue.rates?.out === undefined ? "–" : rate(queue.rates.out)}</dd>
        </div>
      </dl>
      <dl class="facts">
        <Fact name="Kind">{queue.kind}</Fact>
        <Fact name="Not settled">{known(queue.unacknowledged)}</Fact>
        <Fact name="Consumers">{known(queue.consumers)}</Fact>
        <Fact name="Delivery limit">
          {queue.delivery_limit === undefined ? "none, or unknown" : count(queue.delivery_limit)}
        </Fact>
        <Fact name="Dead letters of its own">
          {queue.dead_letter
            ? [queue.dead_letter.exchange, queue.dead_letter.routing_key].filter(Boolean).join(" / ")
            : "none"}
        </Fact>
        <Fact name="Oldest published">
          <Time at={queue.oldest_published} />
        </Fact>
      </dl>
    </Card>
  );
}
