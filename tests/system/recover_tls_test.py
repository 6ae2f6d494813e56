#!/usr/bin/env python3
"""`holdfast recover` with a client certificate, at a RabbitMQ that asks for one.

Usage: recover_tls_test.py HOLDFAST"""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import rabbitmq  # noqa: E402
from dead_letters import Letters  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1])
QUICK = ["--empty", "300ms", "--idle", "3s", "--stall", "2s"]


class ClientCertificateTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.Broker(tls=True, plugins=["rabbitmq_auth_mechanism_ssl"], settings={
            "ssl_options.verify": "verify_peer", "ssl_options.fail_if_no_peer_cert": "true",
            "auth_mechanisms.1": "PLAIN", "auth_mechanisms.2": "EXTERNAL",
            "ssl_cert_login_from": "common_name"})  # fmt: skip
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()
        for name in ("worker", "nobody"):
            rabbitmq.make_certificate(cls.broker.folder, name, name)
        cls.broker.ctl("add_user", "worker", "unused")
        cls.broker.ctl("set_permissions", "worker", ".*", ".*", ".*")
        cls.strangers = tempfile.TemporaryDirectory(prefix="holdfast-strangers-")
        cls.addClassCleanup(cls.strangers.cleanup)
        rabbitmq.make_certificates(cls.strangers.name)

    def setUp(self):
        self.letters = Letters(self.broker, self.id().split(".")[-1])
        self.addCleanup(self.letters.close)
        self.target = f"{self.letters.name}.target"
        self.letters.declare(self.target)

    def file(self, name):
        return os.path.join(self.broker.folder, name)

    def recover(self, *arguments, user="", code=0):
        url = f"amqps://{user}127.0.0.1:{self.broker.tls_port}/%2f/{self.letters.dlq}"
        done = subprocess.run([HOLDFAST, "recover", "--from", url, "--to", self.target, "--ca", self.broker.ca_file,
                               *QUICK, *arguments], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120)  # fmt: skip
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_the_certificate_says_who_we_are(self):
        self.letters.publish("ours", key=self.letters.dlq, user_id="guest")
        self.recover("--cert", self.file("worker.pem"), "--key", self.file("worker.key"))
        [(properties, _)] = self.letters.take(self.target)
        self.assertIsNone(properties.user_id)  # we are not guest
        self.assertEqual(properties.headers["x-holdfast-user-id"], "guest")

    def test_a_user_in_the_url_says_who_we_are(self):
        self.letters.publish("ours", key=self.letters.dlq, user_id="guest")
        self.recover("--cert", self.file("nobody.pem"), "--key", self.file("nobody.key"), user="guest:guest@")
        [(properties, _)] = self.letters.take(self.target)
        self.assertEqual(properties.user_id, "guest")

    def test_what_is_wrong_with_a_certificate_is_said(self):
        worker = ["--cert", self.file("worker.pem")]
        for arguments, user, words in (
            ([], "guest:guest@", "a client certificate"),
            (["--cert", os.path.join(self.strangers.name, "server.pem"), "--key",
              os.path.join(self.strangers.name, "server.key")], "guest:guest@", "not trust the client certificate"),
            (["--cert", self.file("nobody.pem"), "--key", self.file("nobody.key")], "",
             "a user of the name in the certificate"),
            ([*worker, "--key", self.file("nobody.key")], "", "nobody.key is not that of the certificate"),
            ([*worker, "--key", self.file("none.key")], "", "cannot read the client key"),
            (["--cert", self.file("none.pem")], "", "cannot read the client certificate"),
        ):  # fmt: skip
            done = self.recover(*arguments, user=user, code=1)
            self.assertIn(words, done.stderr, arguments)

    def test_a_certificate_without_tls_is_refused(self):
        done = subprocess.run([HOLDFAST, "recover", "--from", self.letters.url, "--to", self.target, "--cert",
                               self.file("worker.pem")], text=True, capture_output=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("amqps", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
