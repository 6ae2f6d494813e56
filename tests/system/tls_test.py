#!/usr/bin/env python3
"""The built server over TLS, with a certificate made for the test.

Usage: tls_test.py HOLDFAST"""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import unittest

import serve_test


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_authority(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")  # fmt: skip


def make_server(folder, authority):
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server",
            "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", "server.key", "-out", "server.csr")  # fmt: skip
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
            "-days", "2", "-copy_extensions", "copy", "-out", "server.pem")  # fmt: skip


class TlsTest(serve_test.SystemTest):
    def setUp(self):
        super().setUp()
        make_authority(self.folder, "ours")
        make_authority(self.folder, "theirs")
        make_server(self.folder, "ours")
        self.server = self.serve('tls_certificate = "server.pem"\ntls_key = "server.key"\n[task.t]\npull = true\n')

    def trusting(self, authority):
        return ssl.create_default_context(cafile=os.path.join(self.folder, f"{authority}.pem"))

    def connect(self, authority="ours", context=None):
        context = context or self.trusting(authority)
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, context=context, timeout=60)
        self.addCleanup(connection.close)
        return connection

    def ask(self, connection, method, path, body=None):
        headers = {"Content-Type": "application/json"} if body else {}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def test_one_connection_serves_many_requests(self):
        connection = self.connect()
        for _ in range(3):
            self.assertEqual(self.ask(connection, "POST", "/v1/tasks", {"type": "t", "payload": "x" * 50_000})[0], 201)
        own = connection.sock
        status, body = self.ask(connection, "GET", "/v1/queues")
        self.assertEqual((status, json.loads(body)["queues"][0]["tasks"]["pending"]), (200, 3))
        self.assertIs(connection.sock, own)
        self.assertIn(own.version(), ("TLSv1.2", "TLSv1.3"))
        self.assertEqual(self.server.end(), 0)
        self.assertIn("https://127.0.0.1:", "".join(self.server.log))

    def test_a_new_certificate_is_used_after_a_reload(self):
        old = ssl.get_server_certificate(("127.0.0.1", self.server.port))
        make_server(self.folder, "ours")
        self.server.process.send_signal(signal.SIGHUP)
        while not any('"config.reloaded"' in line for line in self.server.log):
            self.assertIsNone(self.server.process.poll())
        self.assertNotEqual(ssl.get_server_certificate(("127.0.0.1", self.server.port)), old)
        self.assertEqual(self.ask(self.connect(), "GET", "/healthz")[0], 200)

    def test_a_client_that_trusts_somebody_else_refuses(self):
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.ask(self.connect("theirs"), "GET", "/healthz")
        self.assertEqual(self.ask(self.connect(), "GET", "/healthz")[0], 200)

    def test_old_versions_are_refused(self):
        old = self.trusting("ours")
        old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.ask(self.connect(context=old), "GET", "/healthz")

    def test_plain_http_is_told_to_speak_tls(self):
        plain = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        status, body = self.ask(plain, "GET", "/healthz")
        self.assertEqual(status, 400)
        self.assertIn(b"https://", body)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as stranger:
            stranger.sendall(b"SSH-2.0-OpenSSH_9.2\r\n" * 10)
            try:
                while stranger.recv(4096):  # at most an alert, and then the end
                    pass
            except ConnectionResetError:
                pass
        self.assertEqual(self.ask(self.connect(), "GET", "/healthz")[0], 200)

    def test_events_stream_until_the_server_ends(self):
        reader = self.connect()
        reader.request("GET", "/v1/events")
        answer = reader.getresponse()
        self.addCleanup(answer.close)
        self.ask(self.connect(), "POST", "/v1/tasks", {"type": "t"})
        line = b""
        while not line.startswith(b"data: "):
            line = answer.readline()
        self.assertEqual(json.loads(line[6:])["event"], "submit")
        self.server.process.send_signal(signal.SIGTERM)
        answer.read()
        self.server.process.wait(timeout=60)  # a second signal would find its default action in the last moment
        self.assertEqual(self.server.end(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
