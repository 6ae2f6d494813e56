#!/usr/bin/env python3
"""What the built server tells of its brokers, while a real RabbitMQ stops, starts and takes no messages.

Usage: broker_seen_test.py HOLDFAST"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import rabbitmq  # noqa: E402
from dead_letters import Letters  # noqa: E402
from serve_test import HOLDFAST, Server  # noqa: E402
from waiting import eventually  # noqa: E402

CONFIG = """
[queue.kept]
broker = "env:BROKER"
answer = "recorded"
publish = { attempts = 2, first = "100ms" }
connect = { attempts = 10000, wait = "200ms" }
[queue.asked]
broker = "env:BROKER"
publish = { attempts = 2, first = "100ms" }
connect = { attempts = 10000, wait = "200ms" }
[task.kept]
queue = "kept"
command = ["true"]
[task.asked]
queue = "asked"
command = ["true"]
"""
LOCAL = """
[task.local]
command = ["true"]
"""


class BrokerSeenTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.Broker()  # of its own: it is stopped
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-seen-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        if self.broker.process.poll() is not None:
            self.broker.start()
        self.place = f"amqp://127.0.0.1:{self.broker.port}/%2f"

    def serve(self, config):
        server = Server(self.folder, config, {"BROKER": self.broker.url, "DLQ": f"{self.broker.url}%2f/app.dlq"})
        self.addCleanup(server.end, signal.SIGKILL)
        self.assertIsNotNone(server.port, "".join(server.log))
        return server

    def metric(self, server, name, **labels):
        """Nothing: it is not there."""
        text = server.call("GET", "/metrics")[1]
        self.assertNotIn("guest", text)
        wanted = ",".join(f'{key}="{value}"' for key, value in labels.items())
        found = re.search(rf"^{re.escape(f'{name}{{{wanted}}}')} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else None

    def broker_metric(self, server, name):
        return self.metric(server, f"holdfast_broker_{name}", broker=self.place)

    def connected(self, server):
        return self.broker_metric(server, "connected") == 1

    def test_T9_metrics_follow_a_broker_that_goes_and_comes_back(self):
        letters = Letters(self.broker, "app")
        letters.declare("target")
        letters.die(3)
        letters.close()
        server = self.serve(CONFIG + LOCAL + """
[recover.night]
from = "env:DLQ"
to = "target"
filter = ["id=m0"]
every = "1h"
on_start = true
empty = "100ms"
""")
        eventually("a connection", lambda: self.connected(server))

        def recovered():
            return self.metric(server, "holdfast_recovery_messages_total", recovery="night", queue="app.dlq",
                               outcome="recovered")  # fmt: skip

        eventually("the end of the recovery", lambda: recovered() == 1)
        self.assertEqual(self.metric(server, "holdfast_recovery_runs_started_total", recovery="night", queue="app.dlq"), 1)
        self.assertEqual(self.metric(server, "holdfast_recovery_runs_ended_total", recovery="night", queue="app.dlq",
                                     outcome="failed"), 0)  # fmt: skip

        def depth(queue):
            return self.metric(server, "holdfast_dead_letter_queue_messages", broker=self.place, queue=queue)

        eventually("the depth", lambda: depth("app.dlq") == 2)
        eventually("the depth of a carried queue's", lambda: depth("kept.dlq") == 0)
        promtool = shutil.which("promtool")
        self.assertIsNotNone(promtool, "the package prometheus has it")
        checked = subprocess.run([promtool, "check", "metrics"], input=server.call("GET", "/metrics")[1], text=True,
                                 capture_output=True, check=False)  # fmt: skip
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
        lost = self.broker_metric(server, "connections_lost_total")
        self.broker.stop()
        eventually("it is missed", lambda: self.broker_metric(server, "connected") == 0)
        self.assertGreater(self.broker_metric(server, "connections_lost_total"), lost)
        eventually("no depth of what cannot be asked", lambda: depth("app.dlq") is None and depth("kept.dlq") is None)
        status, _ = server.call("POST", "/v1/tasks", {"type": "kept"})
        self.assertEqual(status, 202)
        eventually("a retry", lambda: self.metric(server, "holdfast_broker_publish_retries_total", queue="kept") >= 1)
        self.assertEqual(self.metric(server, "holdfast_broker_publish_retries_total", queue="asked"), 0)
        self.broker.start()
        eventually("it is back", lambda: self.connected(server))
        eventually("the depth", lambda: depth("app.dlq") == 2)
        self.broker.ctl("set_vm_memory_high_watermark", "0.000001")
        self.addCleanup(self.broker.ctl, "set_vm_memory_high_watermark", "absolute", "2GB")
        server.call("POST", "/v1/tasks", {"type": "kept"})  # it is told only to who publishes
        eventually("the alarm", lambda: self.broker_metric(server, "blocked") == 1)
        self.broker.ctl("set_vm_memory_high_watermark", "absolute", "2GB")
        eventually("its end", lambda: self.broker_metric(server, "blocked") == 0)
        self.assertEqual(server.end(), 0)


    def test_T9_an_alarm_is_seen_by_a_server_that_has_only_scheduled_recoveries(self):
        letters = Letters(self.broker, "app")
        letters.declare("target")
        letters.close()
        server = self.serve(LOCAL + """
[recover.night]
from = "env:DLQ"
to = "target"
every = "1h"
""")
        eventually("a connection", lambda: self.connected(server))
        eventually("no alarm", lambda: self.broker_metric(server, "blocked") == 0)
        self.addCleanup(self.broker.ctl, "set_vm_memory_high_watermark", "absolute", "2GB")
        self.broker.ctl("set_vm_memory_high_watermark", "0.000001")
        eventually("the alarm", lambda: self.broker_metric(server, "blocked") == 1)
        status, answer = server.call("GET", "/readyz")
        self.assertEqual((status, answer["status"]), (200, "degraded"))
        self.assertIn("takes no messages since", answer["problems"][0]["text"])
        self.broker.ctl("set_vm_memory_high_watermark", "absolute", "2GB")
        eventually("its end", lambda: server.call("GET", "/readyz")[1]["status"] == "ready")
        self.assertEqual(self.broker_metric(server, "blocked"), 0)
        self.assertEqual(self.broker_metric(server, "connections_lost_total"), 0)
        self.assertEqual(server.end(), 0)

    # R8
    def test_T9_readyz_says_what_works_without_the_broker(self):
        server = self.serve(CONFIG)
        eventually("a connection", lambda: self.connected(server))
        self.assertEqual(server.call("GET", "/readyz"), (200, {"status": "ready", "problems": []}))
        self.broker.stop()

        def problems():
            status, answer = server.call("GET", "/readyz")
            self.assertEqual(status, 200)
            return answer["status"] == "degraded" and answer["problems"]

        [problem] = eventually("it is missed", problems)
        self.assertEqual(problem["broker"], self.place)
        text = problem["text"]
        self.assertIn(f"RabbitMQ at 127.0.0.1:{self.broker.port} is not reachable since {problem['since'][:19]}Z: ", text)
        self.assertIn('; tasks of queue "kept" are accepted and kept in the store', text)
        self.assertIn('; tasks of queue "asked" are refused until then', text)
        self.assertNotIn("guest", text)
        [broker] = server.call("GET", "/v1/stats")[1]["brokers"]
        self.assertEqual((broker["connected"], broker["since"]), (False, problem["since"]))
        top = subprocess.run([HOLDFAST, "top", "--server", f"http://127.0.0.1:{server.port}", "--json"], text=True,
                             capture_output=True, check=True)  # fmt: skip
        self.assertIn("is not reachable since", json.loads(top.stdout.splitlines()[0])["brokers"][0]["text"])
        # What it says is so.
        kept = server.call("POST", "/v1/tasks", {"type": "kept"})
        self.assertEqual(kept[0], 202)
        self.assertEqual(server.call("POST", "/v1/tasks", {"type": "asked"})[0], 503)
        self.broker.start()
        eventually("it is back", lambda: server.call("GET", "/readyz")[1]["status"] == "ready")
        self.assertEqual(server.call("GET", f"/v1/tasks/{kept[1]['id']}")[0], 200)
        self.assertEqual(server.end(), 0)

    def test_T9_a_server_that_can_accept_nothing_is_not_ready(self):
        asked_only = CONFIG.replace('answer = "recorded"\n', "")
        server = self.serve(asked_only)
        eventually("a connection", lambda: self.connected(server))
        self.broker.stop()
        status = eventually("it is missed", lambda: server.call("GET", "/readyz")[0] == 503)
        self.assertTrue(status)
        self.assertIn("is not reachable since", json.dumps(server.call("GET", "/readyz")[1]))
        server.configure(asked_only + LOCAL)
        server.process.send_signal(signal.SIGHUP)
        eventually("a queue of its own", lambda: server.call("GET", "/readyz")[0] == 200)
        self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
