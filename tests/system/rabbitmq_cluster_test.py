#!/usr/bin/env python3
"""V2, V3, V11, P6, N9: `holdfast recover` and carried tasks on a RabbitMQ cluster of three nodes, whose nodes are killed: the
leader of a quorum queue, and two of the three. A ledger of message ids says that nothing is lost; what is there twice must
be within what the runs have reported.

HOLDFAST_CLUSTER_ROUNDS: how many rounds (1). Not part of `make test`: a round takes some minutes.

Usage: rabbitmq_cluster_test.py HOLDFAST"""

import collections
import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import pika  # noqa: E402
import rabbitmq_cluster  # noqa: E402
import serve_test  # noqa: E402
import tcp_proxy  # noqa: E402
from dead_letters import Letters, wait_until  # noqa: E402
from serve_test import HOLDFAST, SystemTest  # noqa: E402
from waiting import eventually  # noqa: E402

ROUNDS = int(os.environ.get("HOLDFAST_CLUSTER_ROUNDS", "1"))
MESSAGES = int(os.environ.get("HOLDFAST_CLUSTER_MESSAGES", "20000"))
TASKS, TASKS_PER_S = 1500, 40
LIMITS = (None, 2, 20)  # x-delivery-limit, one for each round


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


class Arrivals(threading.Thread):
    """Looks at the depth of a queue until it is ended, and notes when it rises."""

    def __init__(self, node, queue):
        super().__init__(daemon=True)
        self._node, self._queue = node, queue
        self._ends = threading.Event()
        self.count = 0
        self.rises = [time.monotonic()]
        self.start()

    def run(self):
        connection = pika.BlockingConnection(pika.URLParameters(self._node.url + "?heartbeat=0"))
        with contextlib.closing(connection):
            channel = connection.channel()
            while not self._ends.wait(0.02):
                try:
                    # Without a leader it says 0.
                    seen = channel.queue_declare(self._queue, passive=True).method.message_count
                except pika.exceptions.ChannelClosedByBroker:  # classic, and its node is down
                    channel = connection.channel()
                    continue
                if seen > self.count:
                    self.count = seen
                    self.rises.append(time.monotonic())

    def end(self):
        self._ends.set()
        self.join()

    def longest_pause_after(self, moment):
        """Seconds in which nothing came; those after the last arrival are not counted."""
        rises = [moment, *(rise for rise in self.rises if rise > moment)]
        return max((later - sooner for sooner, later in zip(rises, rises[1:], strict=False)), default=0.0)


class ClusterTest(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = rabbitmq_cluster.Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()

    def setUp(self):
        super().setUp()
        self.addCleanup(self.all_nodes_are_back)
        self.proxy = None

    def all_nodes_are_back(self):
        dead = [node for node in self.cluster.nodes if not node.is_alive]
        if dead:
            self.cluster.restart(*dead)

    def url(self, first):
        """Of the cluster: of this node first, and of any that lives if it does not."""
        self.proxy = tcp_proxy.Proxy(self.cluster.port_list(first=[first]), frames=False)
        self.addCleanup(self.proxy.close)
        return f"amqp://guest:guest@127.0.0.1:{self.proxy.port}/"

    def channel(self, node):
        connection = pika.BlockingConnection(pika.URLParameters(node.url + "?heartbeat=0"))
        self.addCleanup(self.close, connection)
        return connection.channel()

    @staticmethod
    def close(connection):
        with contextlib.suppress(pika.exceptions.AMQPError):  # its node may have been killed
            connection.close()

    def take(self, node, queue):
        """How often each message id is in the queue, which is empty then."""
        channel = self.channel(node)
        channel.basic_qos(prefetch_count=1000)
        counts = collections.Counter()
        for method, properties, _ in channel.consume(queue, inactivity_timeout=2):
            if not method:
                break
            counts[properties.message_id] += 1
            if counts.total() % 500 == 0:
                channel.basic_ack(method.delivery_tag, multiple=True)
        channel.connection.close()
        return counts


class Recovery(ClusterTest):
    """From a dead-letter queue into a target, each led by another node."""

    def fill(self, name, limit=None, kind="quorum"):
        """The leader of the dead-letter queue, that of the target, and the third node. Those of classic queues are where they
        are."""
        self.all_nodes_are_back()
        at_dlq, at_target, third = self.cluster.nodes
        self.letters = Letters(at_dlq, name)
        self.addCleanup(self.close, self.letters.connection)
        self.target = f"{name}.target"
        arguments = {"x-queue-type": kind}
        self.letters.declare(dlq_arguments=arguments | ({"x-delivery-limit": limit} if limit else {}))
        self.channel(at_target).queue_declare(self.target, durable=True, arguments=arguments)
        self.ids = self.letters.die_many(MESSAGES)
        if kind == "quorum":
            self.cluster.wait_for_members(self.letters.dlq, self.target)
            self.assertIs(self.cluster.wait_for_leader(self.letters.dlq), at_dlq)
            self.assertIs(self.cluster.wait_for_leader(self.target), at_target)
        self.reported = 0
        return at_dlq, at_target, third

    def start(self, connects_to, management, *arguments):
        self.arrivals = Arrivals(management, self.target)
        self.addCleanup(self.arrivals.end)
        run = subprocess.Popen(
            [HOLDFAST, "recover", "--from", f"{self.url(connects_to)}%2f/{self.letters.dlq}", "--to", self.target,
             "--management", management.management_url, "--json", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(self.end_process, run)
        return run

    @staticmethod
    def end_process(run):
        if run.poll() is None:
            run.kill()
        run.communicate()

    def end_of(self, run, *codes):
        out, err = run.communicate(timeout=300)
        self.arrivals.end()
        self.assertIn(run.returncode, codes, out + err)
        summary = json.loads(out)
        self.reported += summary["possible_duplicates"]
        self.assertEqual(summary["vanished"], 0, out + err)
        if "still_in_queue" in summary and summary.get("found") and not summary["arrived"]:
            gone = summary["recovered"]["total"] + summary["parked"]
            self.assertEqual(gone + summary["still_in_queue"], summary["found"], out + err)
        return summary

    def progress(self, run, part):
        wait_until(lambda: self.arrivals.count >= len(self.ids) * part or run.poll() is not None)
        self.assertIsNone(run.poll(), "it has ended too soon for this test")

    def check(self, node):
        """No message is lost, and no more are there twice than was reported."""
        counts = self.take(node, self.target) + self.take(node, self.letters.dlq)
        self.assertEqual(set(self.ids) - set(counts), set(), "lost")
        self.assertEqual(set(counts) - set(self.ids), set())
        twice = counts.total() - len(counts)
        self.assertLessEqual(twice, self.reported)
        channel = self.channel(node)
        for queue in (self.letters.dlq, self.letters.work, self.target, f"{self.letters.name}.quick"):
            channel.queue_delete(queue)
        return twice

    def test_V11_the_leader_of_a_queue_is_killed_at_full_speed(self):
        for number in range(ROUNDS):
            limit = LIMITS[number % len(LIMITS)]
            for dies, connected in itertools.product(("dead-letter queue", "target"), (True, False)):
                with self.subTest(dies=dies, connected=connected, limit=limit):
                    at_dlq, at_target, third = self.fill(f"full{number}.{dies[0]}{connected}", limit)
                    victim = at_dlq if dies == "dead-letter queue" else at_target
                    run = self.start(victim if connected else third, third, "--empty", "2s")
                    self.progress(run, 0.2)
                    killed = time.monotonic()
                    self.cluster.kill(victim)
                    summary = self.end_of(run, 0)
                    self.cluster.restart(victim)
                    twice = self.check(third)
                    pause = self.arrivals.longest_pause_after(killed)
                    say(f"leader of the {dies} killed, run connected to {'it' if connected else 'another node'}, limit {limit}: "
                        f"nothing for {pause:.1f} s, {summary['interruptions']} interruptions, {twice} of {len(self.ids)} twice, "
                        f"{summary['possible_duplicates']} reported, {summary['recognised']} recognised")  # fmt: skip

    def test_V11_one_leader_after_the_other_is_killed_during_one_run(self):
        for number in range(ROUNDS):
            at_dlq, at_target, third = self.fill(f"both{number}", LIMITS[number % len(LIMITS)])
            run = self.start(at_dlq, third, "--empty", "2s", "--rate", f"{MESSAGES // 30}/s")
            for victim, part in ((at_dlq, 0.1), (at_target, 0.5)):
                self.progress(run, part)
                killed = time.monotonic()
                self.cluster.kill(victim)
                self.progress(run, part + 0.1)
                say(f"{victim} killed: nothing for {self.arrivals.longest_pause_after(killed):.1f} s")
                self.cluster.restart(victim)
            summary = self.end_of(run, 0)
            twice = self.check(third)
            say(f"one leader after the other: {twice} of {len(self.ids)} twice, {summary['possible_duplicates']} reported, "
                f"{summary['recognised']} recognised")  # fmt: skip

    def test_P6_with_one_node_of_three_a_run_stalls_and_the_next_one_brings_the_rest(self):
        for number in range(ROUNDS):
            at_dlq, at_target, third = self.fill(f"minority{number}", LIMITS[number % len(LIMITS)])
            run = self.start(third, third, "--stall", "5s")
            self.progress(run, 0.2)
            self.cluster.kill(at_dlq, at_target)
            summary = self.end_of(run, 3)
            self.assertEqual(summary["ended"], "stall")
            self.assertGreaterEqual(summary["recovered"]["total"], len(self.ids) * 0.2)
            # A run that begins now must not take a queue that cannot be reached for an empty one.
            run = self.start(third, third, "--stall", "3s", "--delivery-limit", "none")
            begun = self.end_of(run, 1, 3)
            self.assertNotIn("found", begun)
            self.assertNotIn("still_in_queue", begun)
            self.cluster.restart(at_dlq, at_target)
            rest = self.end_of(self.start(third, third, "--empty", "2s"), 0)
            twice = self.check(third)
            say(f"two of three killed: {summary['recovered']['total']} recovered, then {rest['recovered']['total']}; "
                f"{twice} of {len(self.ids)} twice, {self.reported} reported")  # fmt: skip


    def test_V11_a_classic_queue_comes_back_with_its_node(self):
        for number in range(ROUNDS):
            at_dlq, _, third = self.fill(f"classic{number}.d", kind="classic")
            run = self.start(third, third, "--empty", "2s", "--stall", "120s", "--rate", f"{MESSAGES // 5}/s")
            self.progress(run, 0.2)
            self.cluster.kill(at_dlq)
            self.cluster.restart(at_dlq)
            self.end_of(run, 0)
            self.check(third)

            _, at_target, third = self.fill(f"classic{number}.t", kind="classic")
            run = self.start(third, third, "--empty", "2s", "--rate", f"{MESSAGES // 5}/s")
            self.progress(run, 0.2)
            self.cluster.kill(at_target)
            summary = self.end_of(run, 3)
            self.cluster.restart(at_target)
            self.end_of(self.start(third, third, "--empty", "2s"), 0)
            twice = self.check(third)
            say(f"node of a classic target killed: {summary['failed']['total']} kept, and recovered by the next run; "
                f"{twice} of {len(self.ids)} twice")  # fmt: skip


class Producer(threading.Thread):
    """Submits tasks until all are accepted; asks again with the same key where the answer is an error."""

    def __init__(self, server, name):
        super().__init__(daemon=True)
        self._server, self._name = server, name
        self._ends = False
        self.accepted = {}  # the id of each task by its number
        self.problems = []
        self.slowest = 0.0
        self.start()

    def run(self):
        for number in range(TASKS):
            while number not in self.accepted and not self._ends:
                began = time.monotonic()
                task = {"type": "job", "payload": number, "key": f"{self._name}.{number}"}
                status, answer = self._server.call("POST", "/v1/tasks", task)
                took = time.monotonic() - began
                self.slowest = max(self.slowest, took)
                if status < 300:
                    self.accepted[number] = answer["id"]
                else:
                    self.problems.append(answer)
                time.sleep(max(0.0, 1 / TASKS_PER_S - took))

    def end(self):
        self._ends = True
        self.join()


class Carried(ClusterTest):
    """Tasks carried by quorum queues."""

    def config(self, ledger):
        # Of ten tasks, one is hopeless and three fail at first.
        script = (f'read n; case $n in *7) exit 1;; *[036]) [ "$HOLDFAST_ATTEMPT" -gt 1 ] || exit 1;; esac; echo $n >> {ledger}')
        return (
            f'[queue.jobs]\nbroker = "{self.url(self.cluster.nodes[0])}"\nkind = "quorum"\n'
            'publish = { attempts = 10, first = "100ms", cap = "1s" }\nconnect = { attempts = 1000, wait = "100ms" }\n'
            f'[task.job]\nqueue = "jobs"\ncommand = {json.dumps(["sh", "-c", script])}\n'
            'retry = { attempts = 4, first = "50ms", cap = "50ms" }\ncrashes = 50\n'
        )

    def test_N9_the_leader_is_killed_while_tasks_are_submitted_and_run(self):
        for _ in range(ROUNDS):
            self.one_round()
            channel = self.channel(self.cluster.alive()[0])
            for one in self.cluster.manage("queues/%2f"):
                channel.queue_delete(one["name"])

    def one_round(self):
        ledger = os.path.join(self.folder, f"ledger{time.monotonic_ns()}")
        server = self.serve(self.config(ledger))
        already = self.counts(server)
        producer = Producer(server, ledger)
        self.addCleanup(producer.end)
        for part in (0.2, 0.7):
            wait_until(lambda part=part: len(producer.accepted) >= TASKS * part)
            victim = self.cluster.wait_for_leader("jobs")
            self.cluster.kill(victim)
            self.cluster.restart(victim)
        producer.join()
        accepted = producer.accepted
        self.assertEqual(len(accepted), TASKS, producer.problems)
        hopeless = {n for n in accepted if n % 10 == 7}

        def all_ended():
            now = self.counts(server) - already
            return now["succeeded"] == len(accepted) - len(hopeless) and now["dead"] == len(hopeless)

        eventually("the end of all tasks", all_ended, 180, lambda: str(self.counts(server) - already))
        for n, task in accepted.items():
            state = server.call("GET", f"/v1/tasks/{task}")[1]["state"]
            self.assertEqual(state, "dead" if n in hopeless else "succeeded", n)
        with open(ledger, encoding="ascii") as file:
            done = collections.Counter(int(line) for line in file)
        self.assertEqual(set(done), set(accepted) - hopeless)
        channel = self.channel(self.cluster.alive()[0])
        letters = collections.Counter()

        def all_letters():
            method, properties, _ = channel.basic_get("jobs.dlq", auto_ack=True)
            if method:
                letters[properties.headers["x-holdfast-task"]] += 1
            return len(letters) == len(hopeless)

        eventually("all dead letters", all_letters, otherwise=lambda: f"{len(letters)} of {len(hopeless)}")
        self.assertEqual(set(letters), {accepted[n] for n in hopeless})
        self.assertEqual(server.end(), 0)
        verify = subprocess.run([HOLDFAST, "verify", serve_test.store_at.url_of(self.folder)], cwd=self.folder,
                                capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)
        say(f"carried: {TASKS} tasks, two leaders killed, slowest answer {producer.slowest:.1f} s, "
            f"{len(producer.problems)} asked again, {done.total() - len(done)} run twice, "
            f"{letters.total() - len(letters)} dead letters twice")  # fmt: skip

    @staticmethod
    def counts(server):
        """Tasks of the queue by state."""
        queues = server.call("GET", "/v1/queues")[1]["queues"]
        return collections.Counter(next((one["tasks"] for one in queues if one["name"] == "jobs"), {}))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
