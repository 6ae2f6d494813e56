#!/usr/bin/env python3
"""The brokers of a server's configuration and their dead-letter queues, over HTTP and by the command line, with a
real RabbitMQ.

Usage: brokers_test.py HOLDFAST"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import jsonschema  # noqa: E402
import rabbitmq  # noqa: E402
from dead_letters import Letters  # noqa: E402
from serve_test import HOLDFAST, Server  # noqa: E402

ROLES = ("submit", "read", "operate")


def bearer(role):
    return {"Authorization": f"Bearer {role}-{role}-{role}-{role}"}


class CheckedServer(Server):
    """Looks at each answer: whether it has the form that /openapi.json gives it, and what was accepted as well."""

    document = None

    def call(self, method, path, body=None, headers=None):
        status, answer = super().call(method, path, body, headers)
        if self.document is None:
            self.document = super().call("GET", "/openapi.json")[1]
        template = next((one for one, methods in self.document["paths"].items() if method.lower() in methods
                         and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one), path.split("?")[0])), None)  # fmt: skip
        operation = self.document["paths"][template][method.lower()]
        response = operation["responses"].get(str(status), operation["responses"]["default"])
        if "$ref" in response:
            response = self.document["components"]["responses"][response["$ref"].split("/")[-1]]
        (content,) = response["content"].values()
        self._check(content["schema"], answer)
        if status < 300 and operation.get("requestBody"):
            self._check(operation["requestBody"]["content"]["application/json"]["schema"], body or {})
        return status, answer

    def _check(self, schema, value):
        validator = jsonschema.Draft202012Validator(schema, resolver=jsonschema.RefResolver("", self.document))
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]
        assert errors == [], (errors, value)


class BrokersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.shared(management=True)
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-brokers-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.letters = Letters(self.broker, self.id().split(".")[-1])
        self.addCleanup(self.letters.close)
        self.target = f"{self.letters.name}.target"

    def serve(self, more=""):
        config = "".join(f'[token.{role}]\nrole = "{role}"\nsecret = "env:{role}"\n' for role in ROLES) + f"""
[broker.main]
url = "env:BROKER_URL"
queues = ["{self.letters.name}.d*", "{self.letters.name}.q*"]
management = "{self.broker.management_url}"
{more}"""
        environment = {role: "-".join([role] * 4) for role in ROLES} | {"BROKER_URL": self.broker.vhost_url}
        server = CheckedServer(self.folder, config, environment)
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        return server

    def cli(self, server, *arguments, role="operate", code=0):
        done = subprocess.run(
            [HOLDFAST, *arguments, "--server", f"http://127.0.0.1:{server.port}"], text=True,
            env=os.environ | {"HOLDFAST_API_TOKEN": "-".join([role] * 4)}, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def wait_for(self, what, log=()):
        until = time.monotonic() + 90
        while not (found := what()):
            self.assertLess(time.monotonic(), until, "".join(log))
            time.sleep(0.1)
        return found

    def queue(self, server, name):
        status, broker = server.call("GET", "/v1/brokers/main/queues", headers=bearer("read"))
        self.assertEqual(status, 200, broker)
        self.assertNotIn("guest", json.dumps(broker))
        return next((queue for queue in broker["queues"] if queue["name"] == name), None)

    def test_dead_letter_queues_are_listed_with_what_is_in_them(self):
        quorum = f"{self.letters.name}.quorum"
        self.letters.declare(self.target)
        self.letters.channel.queue_declare(quorum, durable=True, arguments={
            "x-queue-type": "quorum", "x-delivery-limit": 5, "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": "grave"})  # fmt: skip
        self.letters.die(3, timestamp=1_700_000_000)
        server = self.serve("""
[broker.away]
url = "amqp://someone:planted-password@127.0.0.1:1"
management = "http://127.0.0.1:1"
""")
        # The API counts a queue some seconds after its messages have come.
        seen = self.wait_for(lambda: (found := self.queue(server, self.letters.dlq)) and found.get("ready") == 3
                             and "rates" in found and found)  # fmt: skip
        self.assertEqual((seen["kind"], seen["unacknowledged"], seen["consumers"]), ("classic", 0, 0))
        self.assertEqual(seen["oldest_published"], "2023-11-14T22:13:20.000000Z")
        self.assertGreaterEqual(seen["rates"]["in"], 0)
        limited = self.queue(server, quorum)
        self.assertEqual((limited["kind"], limited["delivery_limit"]), ("quorum", 5))
        self.assertEqual(limited["dead_letter"], {"exchange": "", "routing_key": "grave"})
        self.assertIsNone(self.queue(server, self.target))

        status, listed = server.call("GET", "/v1/brokers", headers=bearer("read"))
        self.assertEqual(status, 200)
        away, main = listed["brokers"]
        self.assertFalse(away["reachable"])
        self.assertIn("127.0.0.1:1", away["error"])
        self.assertEqual((main["reachable"], main["queue_count"], main["messages"]), (True, 2, 3))
        self.assertEqual(server.call("GET", "/v1/brokers", headers=bearer("submit"))[0], 403)
        self.assertEqual(server.call("GET", "/v1/brokers")[0], 401)
        self.assertEqual(server.call("GET", "/v1/brokers/none/queues", headers=bearer("read"))[0], 404)

        table = self.cli(server, "brokers", "main", role="read")
        self.assertRegex(table, rf"{self.letters.dlq[:20]}\S* +classic +3 +0")
        for line in table.splitlines():
            self.assertLessEqual(len(line), 80, line)
        [line] = self.cli(server, "brokers", "main", "--json").splitlines()
        self.assertEqual({queue["name"] for queue in json.loads(line)["queues"]}, {self.letters.dlq, quorum})
        everything = self.cli(server, "brokers", code=1)  # one cannot be listed
        self.assertIn("cannot be listed", everything)
        self.assertEqual(server.end(), 0)
        self.assertNotIn("planted-password", "".join(server.log) + everything + json.dumps(listed))

    def recovery(self, server, code=201, role="operate", **request):
        request = {"broker": "main", "queue": self.letters.dlq, "empty": "200ms"} | request
        status, answer = server.call("POST", "/v1/recoveries", request, bearer(role))
        self.assertEqual(status, code, answer)
        return answer

    def ended(self, server, identity):
        def look():
            status, found = server.call("GET", f"/v1/recoveries/{identity}", headers=bearer("read"))
            self.assertEqual(status, 200, found)
            return found["state"] != "running" and found

        return self.wait_for(look, server.log)

    def audit(self, server):
        return [(entry["who"], entry["action"], entry["count"], entry["refused"], entry.get("operation"))
                for entry in server.call("GET", "/v1/audit", headers=bearer("read"))[1]["entries"]]  # fmt: skip

    def test_V9_a_recovery_is_planned_run_and_remembered(self):
        self.letters.declare(self.target)
        for number in range(7):
            self.letters.publish(f"m{number}", headers={"MessageType": "Known" if number else "Unknown"})
        self.letters.reject_all(7)
        self.wait_for(lambda: self.letters.count(self.letters.dlq) == 7)
        server = self.serve()
        how = {"map": {"Known": self.target}, "reason": "it works again"}
        plan = self.ended(server, self.recovery(server, dry_run=True, **how)["id"])
        self.assertEqual((plan["state"], plan["by"], plan["request"]["dry_run"]), ("done", "operate", True))
        self.assertEqual(plan["progress"]["would_recover"], 6)
        self.assertEqual({(row["what"], row["type"], row.get("to", ""), row["count"]) for row in plan["plan"]},
                         {("recover", "Known", self.target, 6), ("keep", "Unknown", "", 1)})  # fmt: skip
        self.assertEqual(self.letters.count(self.letters.dlq), 7)

        done = self.ended(server, self.recovery(server, **how)["id"])
        self.assertEqual((done["state"], done["complete"]), ("done", False), done)
        self.assertEqual(done["targets"], [{"name": self.target, "count": 6}])
        self.assertEqual(done["kept"], [{"name": 'the map has no type "Unknown"', "count": 1}])
        self.assertEqual((done["progress"]["found"], done["progress"]["left"]), (7, 1))
        self.assertEqual(sorted(self.letters.ids(self.target)), [f"m{number}" for number in range(1, 7)])
        self.assertEqual(self.audit(server), [("operate", "recover", 6, 1, done["id"]),
                                              ("operate", "recover.start", 0, 0, done["id"]),
                                              ("operate", "recover.plan", 0, 0, plan["id"])])  # fmt: skip
        status, page = server.call("GET", "/v1/recoveries?limit=1", headers=bearer("read"))
        self.assertEqual((status, [one["id"] for one in page["recoveries"]]), (200, [done["id"]]))

        # What cannot be done, and who may not.
        self.recovery(server, code=403, role="read", to=self.target)
        self.recovery(server, code=400, to=self.letters.dlq)
        self.recovery(server, code=400)
        self.recovery(server, code=400, to=self.target, filter=["nonsense"])
        self.recovery(server, code=404, to=self.target, queue=self.target)
        self.recovery(server, code=404, to=self.target, broker="none")
        missing = self.ended(server, self.recovery(server, to=self.target, queue=f"{self.letters.name}.d-missing")["id"])
        self.assertEqual(missing["state"], "failed")
        self.assertIn("d-missing", missing["error"])
        self.assertEqual(server.call("GET", "/v1/recoveries/none", headers=bearer("read"))[0], 404)

        # The same by the command line.
        start = ["recoveries", "start", "main", self.letters.dlq]
        told = self.cli(server, *start, "--to", self.target, "--reason", "by hand")
        self.assertIn("1  recovered", told)
        self.assertIn("0  still in", told)
        listed = self.cli(server, "recoveries", "ls", role="read")
        self.assertRegex(listed, rf"(?m)^{missing['id'][:14]}…  failed ")
        self.assertIn("ls --json has them whole", listed)
        self.assertIn("it works again", self.cli(server, "recoveries", "show", done["id"], role="read"))
        self.cli(server, *start, "--to", self.target, role="read", code=1)
        self.assertEqual(server.end(), 0)
        self.assertNotIn("guest:guest", "".join(server.log) + json.dumps([plan, done, page]))

    def test_N1_the_first_messages_of_a_queue_are_shown_as_a_sample(self):
        self.letters.declare(self.target)
        for number in range(12):
            self.letters.publish(f"m{number}", f"body {number}".encode() + b"x" * 3000 * (number == 0),
                                 headers={"MessageType": "Scan", "tenant": 7,
                                          "x-error": f"no customer {number} at 10.0.0.{number}:80"})  # fmt: skip
        self.letters.reject_all(12)
        self.wait_for(lambda: self.letters.count(self.letters.dlq) == 12)
        server = self.serve()
        path = f"/v1/brokers/main/queues/{self.letters.dlq}/sample"
        self.assertEqual(server.call("POST", path, {}, bearer("read"))[0], 403)
        status, sample = server.call("POST", path, {"limit": 10}, bearer("operate"))
        self.assertEqual(status, 200, sample)
        self.assertEqual((sample["sampled"], sample["found"], sample["seen"]), (True, 12, 10))
        self.assertEqual(sample["types"], [{"name": "Scan", "count": 10}])
        self.assertEqual(sample["reasons"], [{"name": "rejected", "count": 10}])
        self.assertEqual(sample["origins"], [{"name": self.letters.work, "count": 10}])
        [error] = sample["errors"]
        self.assertEqual(error["count"], 10)
        self.assertIn("oldest", sample)
        first = sample["messages"][0]
        self.assertEqual((first["id"], first["size"], first["cut"], len(first["body"])), ("m0", 3006, True, 2048))
        self.assertEqual(first["headers"]["tenant"], "7")
        self.wait_for(lambda: self.letters.count(self.letters.dlq) == 12)
        self.assertEqual(self.letters.ids(self.letters.dlq), [f"m{number}" for number in range(12)])  # in their order
        self.assertEqual(self.audit(server), [("operate", "recover.look", 0, 0, None)])
        self.assertEqual(server.call("POST", path, {"limit": 0}, bearer("operate"))[0], 400)
        self.letters.die(3, b"shown", prefix="s")
        told = self.cli(server, "brokers", "main", self.letters.dlq, "--limit", "2")
        self.assertIn("A sample: the first 2 of 3 messages", told)
        self.assertRegex(told, "s0 +.*shown")

        # Where a look could be the end of a message there is none.
        limited = f"{self.letters.name}.quorum"
        self.letters.channel.queue_declare(limited, durable=True, arguments={
            "x-queue-type": "quorum", "x-delivery-limit": 2})  # fmt: skip
        self.letters.publish("last", key=limited)
        status, problem = server.call("POST", f"/v1/brokers/main/queues/{limited}/sample", {}, bearer("operate"))
        self.assertGreaterEqual(status, 400, problem)
        self.assertIn("limit", problem["detail"])
        self.assertEqual(server.end(), 0)

    def test_N2_one_queue_has_one_recovery_which_can_be_canceled_and_says_when_it_was_interrupted(self):
        self.letters.declare(self.target)
        self.letters.die(40)
        server = self.serve()
        first = self.recovery(server, to=self.target, rate=2)["id"]
        self.recovery(server, code=409, to=self.target)
        self.wait_for(lambda: self.letters.count(self.target) > 0)
        shown = self.wait_for(lambda: (found := self.queue(server, self.letters.dlq)) and found.get("recovery") and found)
        self.assertEqual(shown["recovery"], first)
        status, _ = server.call("POST", f"/v1/recoveries/{first}/cancel", headers=bearer("read"))
        self.assertEqual(status, 403)
        self.assertIn("ends as soon", self.cli(server, "recoveries", "cancel", first))
        canceled = self.ended(server, first)
        self.assertEqual((canceled["state"], canceled["why"]), ("canceled", "canceled by operate"))
        self.assertEqual(canceled["progress"]["recovered"], self.letters.count(self.target))
        self.assertEqual(canceled["progress"]["recovered"] + self.letters.count(self.letters.dlq), 40)
        self.assertEqual(server.call("POST", f"/v1/recoveries/{first}/cancel", headers=bearer("operate"))[0], 409)

        # One whose server is stopped, and one whose server is killed.
        second = self.recovery(server, to=self.target, rate=2)["id"]
        self.wait_for(lambda: self.letters.count(self.target) > canceled["progress"]["recovered"])
        self.assertEqual(server.end(), 0)
        server = self.serve()
        stopped = self.ended(server, second)
        self.assertEqual((stopped["state"], stopped["why"]), ("interrupted", "its server was stopped"))
        self.assertGreater(stopped["progress"]["recovered"], 0)
        moved = self.letters.count(self.target)
        third = self.recovery(server, to=self.target, rate=2)["id"]
        self.wait_for(lambda: self.letters.count(self.target) > moved)
        server.end(signal.SIGKILL)
        server = self.serve()
        killed = self.ended(server, third)
        self.assertEqual(killed["state"], "interrupted")
        self.assertIn("may be there twice", killed["why"])
        self.assertIn(("operate", "recover.interrupted", killed["progress"]["recovered"], 0, third), self.audit(server))
        fourth = self.recovery(server, to=self.target, rate=2)["id"]
        self.assertEqual(server.call("POST", f"/v1/recoveries/{fourth}/cancel", headers=bearer("operate"))[0], 200)
        self.assertEqual(self.ended(server, fourth)["state"], "canceled")
        # The rest comes by another one; nothing was lost.
        self.wait_for(lambda: self.letters.count(self.letters.dlq) + self.letters.count(self.target) >= 40)
        last = self.ended(server, self.recovery(server, to=self.target)["id"])
        self.assertTrue(last["complete"], last)
        self.assertEqual(len(set(self.letters.ids(self.target))), 40)
        self.assertEqual(server.end(), 0)

    def test_a_schedule_and_a_person_do_not_recover_one_queue_at_once(self):
        self.letters.declare(self.target)
        self.letters.die(30)
        server = self.serve(f"""
[recover.often]
from = "{self.letters.url}"
management = "{self.broker.management_url}"
to = "{self.target}"
filter = ["type=Never"]
empty = "100ms"
every = "1s"
""")

        def begin():  # the schedule may be at it
            request = {"broker": "main", "queue": self.letters.dlq, "to": self.target, "rate": 1}
            status, answer = server.call("POST", "/v1/recoveries", request, bearer("operate"))
            self.assertIn(status, (201, 409), answer)
            return status == 201 and answer["id"]

        mine = self.wait_for(begin, server.log)
        self.wait_for(lambda: any('"recover.still_runs"' in line for line in server.log), server.log)
        self.assertEqual(server.call("GET", f"/v1/recoveries/{mine}", headers=bearer("read"))[1]["state"], "running")
        self.assertEqual(server.call("POST", f"/v1/recoveries/{mine}/cancel", headers=bearer("operate"))[0], 200)
        moved = self.ended(server, mine)["progress"]["recovered"]
        began = sum('"recover.began"' in line for line in server.log)
        self.wait_for(lambda: sum('"recover.began"' in line for line in server.log) > began, server.log)  # again
        self.assertEqual(server.end(), 0)
        self.wait_for(lambda: self.letters.count(self.target) + self.letters.count(self.letters.dlq) == 30)
        self.assertEqual(self.letters.count(self.target), moved)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
