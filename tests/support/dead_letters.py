"""Dead letters of a real RabbitMQ, made as programs make them, and a ledger of where they are."""

import subprocess
import time

import pika


def wait_until(what):
    until = time.monotonic() + 120  # on any machine
    while not what():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.01)


class Letters:
    """Queues of one test: those it works on die into its dead-letter queue."""

    def __init__(self, broker, name):
        self.broker = broker
        self.name = name
        self.dlq = f"{name}.dlq"
        self.work = f"{name}.work"
        self.connection = None
        self.connect()

    def connect(self):
        parameters = pika.URLParameters(self.broker.url)
        parameters.heartbeat = 0
        self.connection = pika.BlockingConnection(parameters)
        self.channel = self.connection.channel()

    def close(self):
        if self.connection.is_open:
            self.connection.close()

    @property
    def url(self):
        return f"{self.broker.vhost_url}/{self.dlq}"

    def declare(self, *queues, dlq_arguments=None):
        self.channel.queue_declare(self.dlq, durable=True, arguments=dlq_arguments)
        self.channel.queue_declare(self.work, durable=True, arguments={
            "x-dead-letter-exchange": "", "x-dead-letter-routing-key": self.dlq})  # fmt: skip
        for queue in queues:
            self.channel.queue_declare(queue, durable=True)

    def publish(self, identity, body=b"body", exchange="", key=None, **properties):
        properties.setdefault("delivery_mode", 2)
        self.channel.basic_publish(exchange, key or self.work, body,
                                   pika.BasicProperties(message_id=identity, **properties))  # fmt: skip

    def reject_all(self, count, queue=None):
        """Takes so many messages from the queue they work on, and gives them up."""
        queue = queue or self.work
        tag = None
        for _ in range(count):
            method, _, _ = self._get(queue)
            tag = method.delivery_tag
        if tag:
            self.channel.basic_nack(tag, multiple=True, requeue=False)

    def _get(self, queue):
        found = []
        wait_until(lambda: found.append(self.channel.basic_get(queue)) or found[-1][0])
        return found[-1]

    def die(self, count, body=b"body", prefix="m", waits=True, **properties):
        """So many messages, published and rejected; returns when they are in the dead-letter queue."""
        before = self.count(self.dlq)
        for number in range(count):
            self.publish(f"{prefix}{number}", body, **properties)
        self.reject_all(count)
        if waits:  # unless somebody takes them from there at once
            wait_until(lambda: self.count(self.dlq) >= before + count)
        return [f"{prefix}{number}" for number in range(count)]

    def die_many(self, count, body=b"body", prefix="m", queue=None):
        """A great many, quickly: they expire, in a queue that keeps nothing."""
        quick = f"{self.name}.quick"
        self.channel.queue_declare(quick, durable=True, arguments={
            "x-message-ttl": 0, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue or self.dlq})  # fmt: skip
        count -= 1
        for number in range(count):
            self.publish(f"{prefix}{number}", body, key=quick)
        # What a broker moves by itself is not on its disk at once. What comes after it, confirmed, is.
        channel = self.connection.channel()
        channel.confirm_delivery()
        wait_until(lambda: self.count(queue or self.dlq) >= count)
        last = pika.BasicProperties(message_id=f"{prefix}{count}", delivery_mode=2)
        channel.basic_publish("", queue or self.dlq, body, last)
        channel.close()
        return [f"{prefix}{number}" for number in range(count + 1)]

    def count(self, queue):
        return self.channel.queue_declare(queue, passive=True).method.message_count

    def take(self, queue):
        """All that is in a queue: (properties, body), which is empty then."""
        found = []
        while True:
            method, properties, body = self.channel.basic_get(queue, auto_ack=True)
            if not method:
                return found
            found.append((properties, body))

    def look(self, queue):
        """The same, and puts it back."""
        found = []
        while True:
            method, properties, body = self.channel.basic_get(queue)
            if not method:
                break
            found.append((properties, body))
        self.channel.basic_recover(requeue=True)
        return found

    def ids(self, queue):
        return [properties.message_id for properties, _ in self.take(queue)]

    def look_ids(self, queue):
        return [properties.message_id for properties, _ in self.look(queue)]

    def ledger(self, *queues):
        """How often each message is there, over all these queues, which are empty then."""
        counts = {}
        for queue in queues:
            for identity in self.ids(queue):
                counts[identity] = counts.get(identity, 0) + 1
        return counts


def amqp_publish(broker, queue, body, *options):
    """By a producer that others wrote, in C."""
    subprocess.run(["amqp-publish", "-u", broker.vhost_url, "-r", queue, "-p", *options], input=body, check=True,
                   timeout=60)  # fmt: skip
