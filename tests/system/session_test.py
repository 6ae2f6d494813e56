#!/usr/bin/env python3
"""The built server as a browser meets it: the page, logging in and out, and what other pages may not do.

Usage: session_test.py HOLDFAST"""

import http.client
import json
import os
import re
import signal
import ssl
import sys
import unittest

import seeing_test
import serve_test
import tls_test

TOKENS = {"ANN": "planted-operate-token", "EYE": "planted-reading-token", "NEW": "planted-another-token"}
WRONG = "planted-wrong-token-of-nobody"
TASKS = '[task.t]\npull = true\n[log]\nlevel = "debug"\n'


def token(name, role, secret):
    return f'[token.{name}]\nrole = "{role}"\nsecret = "env:{secret}"\n'


BOTH = token("ann", "operate", "ANN") + token("eye", "read", "EYE") + TASKS


class Browser:
    """What a browser sends of itself, and keeps."""

    def __init__(self, server, context=None):
        self.port = server.port
        self.context = context
        self.cookie = None
        self.origin = f"{'https' if context else 'http'}://127.0.0.1:{server.port}"

    def ask(self, method, path, body=None, headers=None, origin=""):
        """Status, headers and body. `origin`: of the page that asks; None: nothing is said of it."""
        kind = http.client.HTTPSConnection if self.context else http.client.HTTPConnection
        more = {"context": self.context} if self.context else {}
        connection = kind("127.0.0.1", self.port, timeout=60, **more)
        headers = {"Accept-Encoding": "gzip"} | (headers or {})
        if self.cookie:
            headers["Cookie"] = f"theme=dark; {self.cookie}"
        if origin is not None and method != "GET":
            headers["Origin"] = origin or self.origin
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def log_in(self, secret):
        status, headers, _ = self.ask("POST", "/v1/session", {"token": secret})
        if status == 204:
            self.cookie = headers["Set-Cookie"].split(";")[0]
        return status, headers.get("Set-Cookie", "")

    def who(self):
        status, _, content = self.ask("GET", "/v1/session")
        assert status == 200, content
        return json.loads(content)

    def looks(self):
        return self.ask("GET", "/v1/queues")[0]

    def pauses(self, **more):
        return self.ask("POST", "/v1/queues/default/pause", **more)[0]


class SessionTest(serve_test.SystemTest):
    def start(self, config=BOTH):
        server = self.serve(config, TOKENS)
        return server, Browser(server)

    def end(self, server, *more):
        """Nothing that was planted is in its log."""
        self.assertEqual(server.end(), 0)
        log = "".join(server.log)
        for secret in (*TOKENS.values(), WRONG, *more):
            self.assertNotIn(secret, log)

    def test_a_browser_logs_in_looks_around_and_logs_out(self):  # T9
        server, browser = self.start()
        self.assertEqual(browser.who()["login"], "token")
        self.assertIsNone(browser.who()["name"])
        self.assertEqual(browser.looks(), 401)
        status, cookie = browser.log_in(TOKENS["ANN"])
        self.assertEqual(status, 204)
        self.assertRegex(cookie, r"^holdfast_session=[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$")
        first = browser.cookie
        who = browser.who()
        self.assertEqual((who["name"], who["role"]), ("ann", "operate"))
        self.assertRegex(who["version"], r"^\d+\.\d+\.\d+")
        self.assertEqual((browser.looks(), browser.pauses()), (200, 200))
        # Its stream of events needs no token, either.
        events = seeing_test.Events(server, headers={"Cookie": browser.cookie})
        self.addCleanup(events.close)
        server.submit({"Authorization": "Bearer " + TOKENS["ANN"]}, type="t")
        self.assertEqual(events.next()[0], "task")

        status, headers, _ = browser.ask("DELETE", "/v1/session")
        self.assertEqual(status, 204)
        self.assertIn("holdfast_session=; ", headers["Set-Cookie"])
        self.assertIn("Max-Age=0", headers["Set-Cookie"])
        self.assertEqual(browser.looks(), 401, "the old cookie is worth nothing, if it is kept")
        server.submit({"Authorization": "Bearer " + TOKENS["ANN"]}, type="t")
        self.assertIsNone(events.next(), "nor is a stream that was open")
        self.end(server, first.partition("=")[2])

    def test_a_wrong_token_lets_nobody_in(self):
        server, browser = self.start()
        for secret in (WRONG, "", "planted-operate-toke", TOKENS["NEW"]):
            status, headers, content = browser.ask("POST", "/v1/session", {"token": secret})
            self.assertEqual((status, headers["Set-Cookie"]), (401, None))
            self.assertNotIn(b"planted", content)
        self.assertEqual(browser.ask("POST", "/v1/session", {"tokens": WRONG})[0], 400)
        browser.cookie = "holdfast_session=" + "0" * 64
        self.assertEqual(browser.looks(), 401)
        self.assertIsNone(browser.who()["name"])
        self.end(server)

    def test_a_cookie_may_do_no_more_than_its_token(self):
        server, browser = self.start()
        self.assertEqual(browser.log_in(TOKENS["EYE"])[0], 204)
        self.assertEqual((browser.looks(), browser.pauses()), (200, 403))
        self.assertEqual(browser.ask("POST", "/v1/tasks", {"type": "t"})[0], 403)
        self.end(server)

    def test_pages_of_others_may_do_nothing_with_or_without_a_cookie(self):
        server, browser = self.start()
        others = ("https://evil.example", "http://127.0.0.1:1", "null")
        for origin in others:
            self.assertEqual(browser.ask("POST", "/v1/session", {"token": TOKENS["ANN"]}, origin=origin)[0], 403)
        self.assertEqual(browser.ask("POST", "/v1/session", {"token": TOKENS["ANN"]}, origin=None)[0], 403)
        self.assertEqual(browser.log_in(TOKENS["ANN"])[0], 204)
        for origin in others:
            self.assertEqual(browser.pauses(origin=origin), 403)
            self.assertEqual(browser.ask("DELETE", "/v1/session", origin=origin)[0], 403)
            self.assertEqual(browser.ask("GET", "/v1/queues", headers={"Origin": origin})[0], 401)
        self.assertEqual(browser.pauses(origin=None), 403)
        self.assertEqual(browser.pauses(headers={"Sec-Fetch-Site": "cross-site"}), 403)
        self.assertEqual(browser.pauses(origin=None, headers={"Sec-Fetch-Site": "same-origin"}), 200)
        bearer = {"Authorization": "Bearer " + TOKENS["ANN"]}
        self.assertEqual(browser.pauses(origin="https://evil.example", headers=bearer), 403)
        browser.cookie = None
        self.assertEqual(browser.pauses(origin="https://evil.example"), 403)
        self.end(server)

    def test_a_reload_ends_the_sessions_of_tokens_that_are_gone(self):
        server, ann = self.start()
        eye = Browser(server)
        self.assertEqual((ann.log_in(TOKENS["ANN"])[0], eye.log_in(TOKENS["EYE"])[0]), (204, 204))

        def reload(config):
            told = len(server.log)
            server.configure(config)
            server.process.send_signal(signal.SIGHUP)
            while not any('"config.reloaded"' in line for line in server.log[told:]):
                self.assertIsNone(server.process.poll())

        reload(token("ann", "operate", "NEW") + token("eye", "operate", "EYE") + TASKS)
        self.assertEqual((ann.looks(), eye.looks()), (401, 200))
        self.assertEqual(eye.pauses(), 200, "it has the role that its token has now")
        reload(token("ann", "operate", "NEW") + TASKS)
        self.assertEqual(eye.looks(), 401)
        self.end(server)
        # A new start knows nobody.
        server, _ = self.start()
        ann.port = eye.port = server.port
        self.assertEqual((ann.looks(), eye.looks()), (401, 401))

    def test_without_tokens_nobody_logs_in_and_only_this_machine_is_served(self):
        server, browser = self.start(TASKS)
        who = browser.who()
        self.assertEqual((who["login"], who["name"], who["role"]), ("none", "local", "operate"))
        self.assertEqual(browser.ask("POST", "/v1/session", {"token": WRONG})[0], 409)
        self.assertEqual(browser.pauses(origin=None), 200)
        self.assertEqual(browser.pauses(origin="https://evil.example"), 403)
        for path in ("/", "/assets/x", "/v1/session", "/v1/series", "/v1/workers"):
            self.assertEqual(browser.ask("GET", path, headers={"Host": "evil.example"})[0], 421, path)
        self.end(server)

    def test_the_page_takes_nothing_from_elsewhere(self):
        server, browser = self.start()
        status, headers, content = browser.ask("GET", "/")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Encoding"], "gzip")
        self.assertEqual(headers["Cache-Control"], "no-cache")
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'; script-src 'self';", policy)
        self.assertIn("frame-ancestors 'none'", policy)
        self.assertNotIn("unsafe", policy)
        for name, value in (("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
                            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin")):  # fmt: skip
            self.assertEqual(headers[name], value)
        self.assertEqual(browser.ask("GET", "/", headers={"If-None-Match": headers["ETag"]})[0], 304)
        self.assertEqual(browser.ask("GET", "/", headers={"Accept-Encoding": "identity"})[0], 406)
        self.end(server)

    def test_answers_of_the_API_are_not_kept_nor_guessed_at(self):
        server, browser = self.start()
        for path in ("/v1/session", "/v1/queues", "/nowhere", "/healthz"):
            _, headers, _ = browser.ask("GET", path)
            self.assertEqual((headers["Cache-Control"], headers["X-Content-Type-Options"]), ("no-store", "nosniff"))
        self.end(server)

    def test_over_tls_the_cookie_is_for_tls_only(self):
        tls_test.make_authority(self.folder, "ours")
        tls_test.make_server(self.folder, "ours")
        server = self.serve('tls_certificate = "server.pem"\ntls_key = "server.key"\n' + BOTH, TOKENS)
        context = ssl.create_default_context(cafile=os.path.join(self.folder, "ours.pem"))
        browser = Browser(server, context)
        status, cookie = browser.log_in(TOKENS["ANN"])
        self.assertEqual(status, 204)
        self.assertTrue(re.fullmatch(r"holdfast_session=\w{64}; .*; Secure", cookie), cookie)
        self.assertEqual(browser.pauses(), 200)
        self.end(server)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
