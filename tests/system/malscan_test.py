#!/usr/bin/env python3
"""examples/malscan from end to end: a real RabbitMQ, a real S3 server, the built server and its configuration
as it is shipped, but for addresses and for waits that are shorter.

Usage: malscan_test.py HOLDFAST"""

import json
import os
import shutil
import sys
import time
import unittest

import pika

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import rabbitmq  # noqa: E402
from s3_servers import ACCESS_KEY, SECRET_KEY, S3Server  # noqa: E402
from serve_test import SystemTest  # noqa: E402

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "malscan")
EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-" + b"ANTIVIRUS-TEST-FILE!$H+H*"


class MalscanTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker = rabbitmq.shared()
        self.addCleanup(self.broker.close)
        self.broker.start()
        self.s3 = S3Server("s3rver", os.path.join(self.folder, "objects"), 0)
        self.addCleanup(self.s3.end)
        self.s3.client.create_bucket(Bucket="uploads")
        shutil.copy(os.path.join(EXAMPLE, "scan"), self.folder)
        with open(os.path.join(EXAMPLE, "holdfast.toml"), encoding="utf-8") as file:
            config = file.read()
        for shipped, here in (
            ("amqp://guest:guest@127.0.0.1:5672/", self.broker.url),
            ("http://127.0.0.1:9000", self.s3.url),
            ('[http]\nlisten = "127.0.0.1:8080"\n', ""),  # the server of the test has its own
            ('first = "1s"', 'first = "20ms"'),
            ('wait = "10s"', 'wait = "100ms"'),
        ):
            self.assertIn(shipped, config)
            config = config.replace(shipped, here)
        self.server = self.serve(config, {"S3_ACCESS_KEY": ACCESS_KEY, "S3_SECRET_KEY": SECRET_KEY})
        connection = pika.BlockingConnection(pika.URLParameters(self.broker.url))
        self.addCleanup(lambda: connection.is_open and connection.close())
        self.channel = connection.channel()

    def put(self, key, content):
        self.s3.client.put_object(Bucket="uploads", Key=key, Body=content)

    def scan(self, key):
        return self.server.ended(self.server.submit(type="scan.file", payload={"object": key}))

    def depth(self, queue):
        return self.channel.queue_declare(queue, passive=True).method.message_count

    def test_the_pipeline(self):
        self.put("clean.txt", b"nothing to see")
        self.put("bad.com", EICAR)
        self.put("busy.bin", b"HOLDFAST-TEST-SCANNER-IS-BUSY")
        with self.subTest("verdicts"):
            self.assertEqual(self.scan("clean.txt")["result"]["verdict"], "clean")
            self.assertEqual(self.scan("bad.com")["result"]["verdict"], "infected")
        with self.subTest("R4: an object that is not there"):
            missing = self.scan("missing.txt")
            self.assertEqual(missing["state"], "failed")
            self.assertIn("missing.txt", missing["last_failure"]["message"])
        with self.subTest("R5: three failures"):
            busy = self.scan("busy.bin")
            self.assertEqual((busy["state"], busy["attempts"]), ("dead", 3))
            for _ in range(1000):
                method, properties, body = self.channel.basic_get("malscan-dlq", auto_ack=True)
                if method:
                    break
                time.sleep(0.02)
            self.assertEqual(json.loads(body), {"object": "busy.bin"})
            self.assertEqual(properties.headers["x-holdfast-task"], busy["id"])
            self.assertIn("busy", properties.headers["x-holdfast-error"])
            self.assertEqual(self.depth("malscan.jobs"), 0)
        with self.subTest("a job of a producer that knows nothing of Holdfast"):
            self.channel.basic_publish("", "malscan.jobs", b'{"object": "bad.com"}')
            for _ in range(1000):
                tasks = self.server.call("GET", "/v1/tasks?state=succeeded&limit=100")[1]["tasks"]
                if len(tasks) == 3:
                    break
                time.sleep(0.02)
            self.assertEqual(len(tasks), 3)
        self.assertEqual(self.server.end(), 0)
        self.assertEqual((self.depth("malscan.jobs"), self.depth("malscan-dlq")), (0, 0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
