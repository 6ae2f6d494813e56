#!/usr/bin/env python3
"""Tasks over a real RabbitMQ, with the built server: R1, R2, R5 to R9, and messages of others.

Usage: carried_test.py HOLDFAST"""

import base64
import json
import os
import subprocess
import sys
import unittest
import urllib.request

import pika

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import rabbitmq  # noqa: E402
import serve_test  # noqa: E402
from serve_test import SystemTest  # noqa: E402
from waiting import eventually  # noqa: E402

# Short, so that nothing waits for a real backoff; the defaults are asserted in C++.
FAST = 'publish = { attempts = 3, first = "20ms" }\nconnect = { attempts = 1000, wait = "100ms" }\n'
RETRY = 'retry = { attempts = 3, first = "100ms", cap = "100ms" }\n'


class CarriedTest(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.shared(management=True)
        cls.broker.start()

    @classmethod
    def tearDownClass(cls):
        cls.broker.close()

    def setUp(self):
        super().setUp()
        self.queue = "jobs." + self.id().split(".")[-1]
        self.dead = self.queue + ".dlq"
        connection = pika.BlockingConnection(pika.URLParameters(self.broker.url))
        self.addCleanup(lambda: connection.is_open and connection.close())
        self.channel = connection.channel()

    def config(self, command, queue_lines="", task_lines=RETRY, url=None):
        return (
            f'[queue."{self.queue}"]\nbroker = "{url or self.broker.url}"\n{FAST}{queue_lines}\n'
            f'[task."job"]\nqueue = "{self.queue}"\ncommand = {json.dumps(command)}\n{task_lines}'
        )

    def serve(self, command, queue_lines="", task_lines=RETRY, url=None):
        return SystemTest.serve(self, CarriedTest.config(self, command, queue_lines, task_lines, url))

    def depth(self, queue):
        return self.channel.queue_declare(queue, passive=True).method.message_count

    def api(self, path):
        """The management API, as people see it."""
        request = urllib.request.Request(self.broker.management_url + "/api/" + path)
        token = base64.b64encode(b"guest:guest").decode()
        request.add_header("Authorization", "Basic " + token)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def letter(self):
        """The next dead letter, once it is there."""
        got = eventually("a dead letter", lambda: self.get(self.dead))
        return got

    def get(self, queue):
        method, properties, body = self.channel.basic_get(queue, auto_ack=True)
        return (properties, body) if method else None

    def ended_all(self, server, count, state="succeeded"):
        def look():
            answer = server.call("GET", "/v1/queues")[1]
            queues = [one for one in answer["queues"] if one["name"] == self.queue]
            return queues and queues[0]["tasks"].get(state, 0) >= count

        eventually(f"{count} tasks {state}", look, 120)

    def test_a_task_goes_by_the_broker_and_leaves_nothing_there(self):
        server = self.serve(["cat"])
        task = server.submit(type="job", payload={"a": 1})
        info = server.ended(task)
        self.assertEqual(info["state"], "succeeded")
        self.assertEqual(info["result"], {"a": 1})
        eventually("acknowledged", lambda: self.depth(self.queue) == 0)
        self.assertEqual(server.end(), 0)
        self.assertEqual(self.depth(self.queue), 0)

    def test_R6_the_queues_are_durable_and_lead_to_the_dead_letters(self):
        for kind in ("classic", "quorum"):
            with self.subTest(kind):
                self.queue, self.dead = f"r6.{kind}", f"r6.{kind}.dead"
                server = self.serve(["true"], f'dead_letter = "{self.dead}"\nkind = "{kind}"')
                server.ended(server.submit(type="job"))
                main = self.api(f"queues/{self.broker.quoted_vhost}/{self.queue}")
                dead = self.api(f"queues/{self.broker.quoted_vhost}/{self.dead}")
                self.assertTrue(main["durable"] and dead["durable"])
                self.assertEqual(main["arguments"].get("x-dead-letter-exchange"), "")
                self.assertEqual(main["arguments"].get("x-dead-letter-routing-key"), self.dead)
                self.assertEqual(main["type"], kind)
                self.assertEqual(server.end(), 0)

    def test_R5_three_failures_and_it_is_in_the_dead_letter_queue(self):
        for kind in ("classic", "quorum"):
            with self.subTest(kind):
                self.queue, self.dead = f"r5.{kind}", f"r5.{kind}.dlq"
                server = self.serve(["sh", "-c", "echo scanner is broken >&2; exit 1"],
                                    f'kind = "{kind}"')  # fmt: skip
                task = server.submit(type="job", payload={"n": 7})
                info = server.ended(task)
                self.assertEqual((info["state"], info["attempts"]), ("dead", 3))
                properties, body = self.letter()
                self.assertEqual(json.loads(body), {"n": 7})
                headers = properties.headers
                self.assertEqual(headers["x-holdfast-task"], task)
                self.assertIn("scanner is broken", headers["x-holdfast-error"])
                self.assertEqual(headers["x-holdfast-reason"], "out of attempts")
                self.assertEqual(headers["x-holdfast-attempt"], 3)
                self.assertEqual(headers["x-holdfast-queue"], self.queue)
                self.assertRegex(headers["x-holdfast-dead-at"], r"^20\d\d-\d\d-\d\dT")
                self.assertEqual(properties.delivery_mode, 2)
                self.assertNotIn("x-death", headers)
                self.assertEqual(self.depth(self.queue), 0)
                server.end()
                warnings = [json.loads(line) for line in server.log if '"task.dead_letter"' in line]
                self.assertEqual([one["task"] for one in warnings], [task])
                self.assertEqual(warnings[0]["level"], "warning")

    def test_R7_a_queue_that_is_otherwise_is_used_and_dead_letters_still_arrive(self):
        self.channel.queue_declare(self.queue, durable=True, arguments={"x-max-priority": 3})
        server = self.serve(["false"])
        server.ended(server.submit(type="job"))
        self.letter()
        server.end()
        self.assertEqual(len([line for line in server.log if "carrier.queue_otherwise" in line]), 1)

    def queues(self):
        return [one["name"] for one in self.api(f"queues/{self.broker.quoted_vhost}")]

    def test_a_dead_letter_queue_that_was_deleted_is_made_again(self):
        server = self.serve(["false"])
        eventually("the queues", lambda: self.dead in self.queues())
        self.channel.queue_delete(self.dead)
        task = server.submit(type="job")
        # The first attempt to put it there finds no queue; then the queue is made again.
        properties, _ = eventually("a dead letter", lambda: self.dead in self.queues() and self.get(self.dead))
        self.assertEqual(properties.headers["x-holdfast-task"], task)
        server.end()
        for line in server.log:
            if "carrier.unpublished" in line:
                self.assertIn(task, line)
                self.assertIn(self.dead, json.loads(line)["error"])

    def test_retries_of_a_quorum_queue_wait_in_quorum_queues(self):
        server = self.serve(["false"], 'kind = "quorum"', 'retry = { attempts = 3, first = "5m", cap = "5m" }\n')
        server.submit(type="job")
        retries = f"{self.queue}.retry."
        [found] = eventually("a retry queue", lambda: [name for name in self.queues() if name.startswith(retries)])
        self.assertTrue(found.startswith(f"{retries}q"), found)
        arguments = self.api(f"queues/{self.broker.quoted_vhost}/{found}")["arguments"]
        self.assertEqual(arguments["x-queue-type"], "quorum")

    def test_messages_of_others_become_tasks(self):
        server = self.serve(["cat"])
        eventually("the queue", lambda: self.exists(self.queue))
        named = pika.BasicProperties(message_id="order-1", headers={"tenant": "blue"})
        for properties in (named, named, pika.BasicProperties(), None):
            self.channel.basic_publish("", self.queue, b'{"by": "pika"}', properties)
        subprocess.run(["amqp-publish", "--url", self.broker.vhost_url, "-r", self.queue, "-b", "plain text"],
                       check=True, timeout=60)  # fmt: skip
        body = {"properties": {}, "routing_key": self.queue, "payload": "from the page", "payload_encoding": "string"}
        request = urllib.request.Request(
            f"{self.broker.management_url}/api/exchanges/{self.broker.quoted_vhost}/amq.default/publish",
            json.dumps(body).encode(), method="POST")  # fmt: skip
        request.add_header("Authorization", "Basic " + base64.b64encode(b"guest:guest").decode())
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.assertTrue(json.load(answer)["routed"])
        # The one that was published twice with one id is one task.
        self.ended_all(server, 5)
        tasks = server.call("GET", "/v1/tasks?limit=100")[1]["tasks"]
        self.assertEqual(sorted(one["type"] for one in tasks), ["job"] * 5)
        eventually("acknowledged", lambda: self.depth(self.queue) == 0)
        self.assertEqual(server.end(), 0)

    def exists(self, queue):
        try:
            self.depth(queue)
            return True
        except pika.exceptions.ChannelClosedByBroker:
            self.channel = self.channel.connection.channel()
            return False

    def test_R9_attempts_are_counted_across_kills_of_the_server(self):
        counter = os.path.join(self.folder, "count")
        script = f'echo x >> {counter}; exit 1'
        slow = 'retry = { attempts = 3, first = "300ms", cap = "300ms" }\n'
        server = self.serve(["sh", "-c", script], task_lines=slow)
        task = server.submit(type="job", payload=1)

        def attempts():
            return server.call("GET", f"/v1/tasks/{task}")[1]["attempts"]

        eventually("the first attempt", lambda: attempts() >= 1)
        server.end(9)
        server = self.serve(["sh", "-c", script], task_lines=slow)
        info = server.ended(task)
        self.assertEqual((info["state"], info["attempts"]), ("dead", 3))
        self.letter()
        server.end()
        with open(counter, encoding="ascii") as file:
            self.assertEqual(len(file.readlines()), 3)

    def test_R9_counts_of_a_foreign_system_are_honoured(self):
        server = self.serve(["false"])
        eventually("the queue", lambda: self.exists(self.queue))
        # As a consumer of before has left it: rejected twice, by way of a queue that waits.
        wait = self.queue + ".wait"
        self.channel.queue_declare(wait, arguments={"x-dead-letter-exchange": "", "x-message-ttl": 1,
                                                    "x-dead-letter-routing-key": self.queue})  # fmt: skip
        death = {"count": 2, "reason": "rejected", "queue": self.queue, "exchange": "", "routing-keys": [self.queue]}
        self.channel.basic_publish("", self.queue, b"1", pika.BasicProperties(headers={"x-death": [death]}))
        properties, _ = self.letter()
        self.assertEqual(properties.headers["x-holdfast-attempt"], 3)
        server.end()

    def test_a_dead_letter_that_is_put_back_by_hand_runs_again(self):
        flag = os.path.join(self.folder, "mended")
        server = self.serve(["sh", "-c", f"test -e {flag}"], task_lines="retry = { attempts = 1 }\n")
        task = server.submit(type="job", payload="p")
        server.ended(task)
        properties, body = self.letter()
        open(flag, "w", encoding="ascii").close()
        self.channel.basic_publish("", self.queue, body, properties)
        eventually("done", lambda: server.call("GET", f"/v1/tasks/{task}")[1]["state"] == "succeeded")
        self.assertEqual(server.call("GET", f"/v1/tasks/{task}")[1]["replays"], 1)
        server.end()

    def test_waits_go_through_queues_that_wait_and_are_removed(self):
        server = self.serve(["cat"])
        task = server.submit(type="job", payload="later", delay="1200ms")
        waiting = self.queue + ".retry.1200"
        eventually("a queue that waits", lambda: self.exists(waiting))
        arguments = self.api(f"queues/{self.broker.quoted_vhost}/{waiting}")["arguments"]
        self.assertEqual(arguments["x-message-ttl"], 1200)
        self.assertGreater(arguments["x-expires"], 60_000)
        self.assertEqual(server.ended(task)["state"], "succeeded")
        server.end()


class AwayTest(SystemTest):
    """With a broker that comes and goes."""

    def setUp(self):
        super().setUp()
        self.broker = rabbitmq.Broker()
        self.addCleanup(self.broker.close)
        self.queue = "jobs"

    config = CarriedTest.config
    serve = CarriedTest.serve
    ended_all = CarriedTest.ended_all

    def test_R1_R2_a_broker_that_is_away(self):
        self.broker.start()
        server = self.serve(["cat"])
        server.ended(server.submit(type="job", payload=1))
        self.broker.sync_queues()
        self.broker.kill()
        status, problem = server.call("POST", "/v1/tasks", {"type": "job", "payload": 2, "key": "k"})
        self.assertEqual(status, 503, problem)
        self.assertIn("efused", problem["detail"])
        self.assertIn("not recorded", problem["detail"])
        listed = server.call("GET", "/v1/tasks?limit=100")[1]["tasks"]
        self.assertEqual(len(listed), 1, "nothing is half accepted")

        def retries():
            return [json.loads(line) for line in list(server.log) if '"retry.wait"' in line and '"publish"' in line]

        eventually("the retries in the log", lambda: len(retries()) >= 2)  # it is read by a thread
        self.assertEqual([one["attempt"] for one in retries()], [1, 2])
        self.broker.start()
        # The same key once more: now it is accepted.
        task = eventually("accepted", lambda: self.accepted(server, {"type": "job", "payload": 2, "key": "k"}))
        self.assertEqual(server.ended(task)["state"], "succeeded")
        self.assertEqual(server.end(), 0)

    def accepted(self, server, task):
        status, answer = server.call("POST", "/v1/tasks", task)
        return answer["id"] if status == 201 else None

    def test_R1_recorded_tasks_are_published_when_the_broker_is_back(self):
        self.broker.start()
        server = self.serve(["cat"], 'answer = "recorded"')
        server.ended(server.call("POST", "/v1/tasks", {"type": "job"})[1]["id"])
        self.broker.sync_queues()
        self.broker.kill()
        ids = []
        for n in range(20):
            status, answer = server.call("POST", "/v1/tasks", {"type": "job", "payload": n})
            self.assertEqual(status, 202, answer)
            self.assertTrue(answer["outbound"])
            ids.append(answer["id"])
        self.broker.start()
        for task in ids:
            self.assertEqual(server.ended(task)["state"], "succeeded")
        self.assertEqual(server.end(), 0)

    def test_kills_of_server_and_broker_under_load_lose_nothing(self):
        self.broker.start()
        count = 300
        ledger = os.path.join(self.folder, "ledger")
        # Every third fails at first, by its attempt number.
        script = f'read n; if [ $((n % 3)) = 0 ] && [ "$HOLDFAST_ATTEMPT" = 1 ]; then exit 1; fi; echo $n >> {ledger}'
        lines = 'retry = { attempts = 20, first = "50ms", cap = "50ms" }\ncrashes = 50\n'
        make = lambda: self.serve(["sh", "-c", script], 'answer = "recorded"', lines)  # noqa: E731
        server = make()
        for n in range(count):
            status, answer = server.call("POST", "/v1/tasks", {"type": "job", "payload": n})
            self.assertIn(status, (201, 202), answer)
            if n % 100 == 50:
                server.end(9)
                server = make()
            if n == 120:
                self.broker.sync_queues()
                self.broker.kill()
            if n == 180:
                self.broker.start()
        self.ended_all(server, count)
        self.assertEqual(server.end(), 0)
        with open(ledger, encoding="ascii") as file:
            done = [int(line) for line in file]
        self.assertEqual(set(done), set(range(count)))
        print(f"{len(done) - count} of {count} done twice", file=sys.stderr)
        verify = subprocess.run([serve_test.HOLDFAST, "verify", serve_test.store_at.url_of(self.folder)], cwd=self.folder,
                                capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(verify.returncode, 0, verify.stdout + verify.stderr)

    def test_R8_a_broker_that_never_comes_ends_the_server(self):
        config = self.config(["true"]).replace("attempts = 1000", "attempts = 4")
        self.broker_url = "amqp://nobody:planted-password@127.0.0.1:1/"
        config = config.replace(self.broker.url, self.broker_url)
        with open(os.path.join(self.folder, "holdfast.toml"), "w", encoding="utf-8") as file:
            file.write('[http]\nlisten = "127.0.0.1:0"\n' + config)
        run = subprocess.run([serve_test.HOLDFAST, "serve", "--config", "holdfast.toml"], cwd=self.folder,
                             capture_output=True, text=True, timeout=120)  # fmt: skip
        self.assertNotEqual(run.returncode, 0)
        records = [json.loads(line) for line in run.stderr.splitlines() if line.startswith("{")]
        critical = [one for one in records if one["level"] == "critical"]
        self.assertEqual(len(critical), 1, run.stderr)
        waits = [one for one in records if one["event"] == "broker.retry"]
        self.assertEqual([one["attempt"] for one in waits], [1, 2, 3])
        self.assertNotIn("planted-password", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
