#!/usr/bin/env python3
"""examples/relayer as it is shipped, but for addresses and shorter waits, on the embedded store: routes of its
own, a stand-in relayer, and what becomes of every kind of error. What SQS adds is in another test.

Usage: relayer_test.py HOLDFAST"""

import os
import signal
import sys
import unittest

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import relayer  # noqa: E402
from serve_test import SystemTest  # noqa: E402

QUICK = 'dead_poll = "50ms"\n'

# C1.1–C1.5: (what the relayer says, with which status, what the log says).
HOPELESS = [
    ("C1.1", 500, "insufficient funds for gas * price + value", "Pattern match"),
    ("C1.2", 500, "gas required exceeds allowance (21000)", "Pattern match"),
    ("C1.2", 500, "intrinsic gas too low", "Pattern match"),
    ("C1.2", 500, "out of gas", "Pattern match"),
    ("C1.3", 500, "nonce too low: next nonce 5, tx nonce 3", "Pattern match"),
    ("C1.3", 500, "nonce already used", "Pattern match"),
    ("C1.4", 500, "execution reverted: paused", "Pattern match"),
    ("C1.4", 500, "transaction would revert", "Pattern match"),
    ("C1.5", 400, "bad", "HTTP status 400"),
    ("C1.5", 401, "bad", "HTTP status 401"),
    ("C1.5", 403, "bad", "HTTP status 403"),
    ("C1.5", 422, "bad", "HTTP status 422"),
]

# C1.6–C1.8, likewise.
PASSING = [
    ("C1.6", 504, "network timeout", "Pattern match"),
    ("C1.7", 500, "bad", "HTTP status 500"),
    ("C1.7", 502, "bad", "HTTP status 502"),
    ("C1.7", 503, "bad", "HTTP status 503"),
    ("C1.7", 504, "bad", "HTTP status 504"),
    ("C1.7", 408, "bad", "HTTP status 408"),
    ("C1.7", 425, "bad", "HTTP status 425"),
    ("C1.8", 600, "flux capacitor misaligned", "Default classification"),
]


class RelayerTest(SystemTest):
    def start(self, **changes):
        self.relayer = relayer.Relayer()
        self.addCleanup(self.relayer.end)
        self.changes = {"more": QUICK} | changes
        self.server = self.serve(relayer.config(self.relayer, **self.changes))
        return relayer.Client(self.server)

    def test_a_transaction_is_relayed(self):
        client = self.start()
        status, answer = client.post()
        self.assertEqual((status, answer["status"], sorted(answer)), (201, "pending", ["id", "status"]))
        done = client.ended(answer["id"])
        self.assertEqual(done, {
            "id": answer["id"], "status": "succeeded", "error_message": None, "retryOnFailure": False,
            "attempts": 0, "hash": self.relayer.sent()[answer["id"]]})  # fmt: skip
        status, task = self.server.call("GET", f"/v1/tasks/{answer['id']}")
        self.assertEqual((task["type"], task["queue"]), ("relay.direct", "relay"))
        self.assertEqual(task["payload"], {"to": relayer.TO, "data": "0x", "value": "0"})
        self.assertEqual(self.server.end(), 0)

    def test_C1_1_to_C1_5_what_cannot_work_is_given_up_at_once(self):
        client = self.start()
        sent = [(client.relay(f"fail {row[1]} {row[2]}"), row) for row in HOPELESS]
        for task, (name, status, error, basis) in sent:
            with self.subTest(name, error=error, status=status):
                ended = client.ended(task)
                self.assertEqual((ended["status"], ended["attempts"]), ("failed", 1))
                self.assertEqual(ended["error_message"], f"[NON_RETRYABLE] HTTP {status}: {error}")
                self.assertEqual(  # C6.1
                    client.classified(task),
                    [("warning", f"[NON_RETRYABLE] {basis}", "NON_RETRYABLE", f"HTTP {status}: {error}")])
                self.assertEqual(self.relayer.requests()[task], 1)
        self.assertEqual(self.server.call("GET", "/v1/dead")[1]["tasks"], [])

    def test_C1_6_to_C1_8_what_may_work_is_tried_three_times(self):
        client = self.start()
        sent = [(client.relay(f"fail {row[1]} {row[2]}"), row) for row in PASSING]
        for task, (name, status, error, basis) in sent:
            with self.subTest(name, error=error, status=status):
                ended = client.ended(task, self.ends)
                self.assertEqual(ended["attempts"], 3)
                self.assertEqual(  # C3.2
                    ended["error_message"], f"[DLQ] Message moved to DLQ after 3 retries: HTTP {status}: {error}")
                self.assertEqual(  # C6.1
                    client.classified(task, 3),
                    [("info", f"[RETRYABLE] {basis}", "RETRYABLE", f"HTTP {status}: {error}")] * 3)
                self.assertEqual(self.relayer.requests()[task], 3)

    ends = ("failed",)  # of what was tried in vain: nothing stays dead

    def test_C1_6_a_relayer_that_does_not_answer(self):
        client = self.start(timeout="200ms")
        ended = client.ended(task := client.relay("hang"), self.ends)
        self.assertEqual(ended["attempts"], 3)
        for level, message, category, _ in client.classified(task, 3):
            self.assertEqual((level, message, category), ("info", "[RETRYABLE] Pattern match", "RETRYABLE"))

    def test_C1_8_an_answer_that_nobody_understands(self):
        client = self.start()
        client.ended(task := client.relay("garbage"), self.ends)
        self.assertEqual([said[1] for said in client.classified(task, 3)], ["[RETRYABLE] Default classification"] * 3)

    def test_C1_7_what_recovers_is_relayed_and_429_waits_as_told(self):
        client = self.start()
        task = client.relay("fail*2 503 busy")
        ended = client.ended(task)
        self.assertEqual((ended["status"], ended["attempts"], ended["error_message"]), ("succeeded", 2, None))
        self.assertEqual(self.relayer.requests()[task], 3)
        self.relayer.script({"status": 429, "error": "slow down", "headers": {"Retry-After": "1"}})
        task = client.relay()
        ended = client.ended(task)
        self.assertEqual((ended["status"], ended["attempts"]), ("succeeded", 0))  # a throttle spends none
        self.assertEqual(client.classified(task)[0][1], "[RETRYABLE] HTTP status 429")

    def test_trap_9_known_already_is_a_success_and_what_is_uncertain_waits_for_a_person(self):
        client = self.start()
        self.assertEqual(client.ended(client.relay("fail 500 already known"))["status"], "succeeded")
        cheap = client.relay("fail 500 replacement transaction underpriced")
        low = client.relay("fail*1 500 transaction underpriced")
        self.assertEqual(client.ended(cheap, self.ends)["status"], "failed")
        self.assertEqual(client.classified(cheap)[0][1], "[AMBIGUOUS] Pattern match")
        self.assertEqual(self.server.call("GET", f"/v1/tasks/{cheap}")[1]["dead_reason"], "ambiguous")
        self.assertEqual(self.relayer.requests()[cheap], 1)
        self.assertEqual(client.ended(low)["status"], "succeeded")

    def test_C3_3_what_asks_for_it_is_brought_back_once(self):
        client = self.start()
        lost = client.relay("fail 503 busy", retryOnFailure=True)
        saved = client.relay("fail*4 503 busy", retryOnFailure=True)
        self.assertEqual(client.ended(lost, self.ends)["status"], "failed")
        self.assertEqual(client.ended(saved, ("succeeded", "failed"))["status"], "succeeded")
        self.assertEqual(self.relayer.requests(), {lost: 6, saved: 5})

    def test_C2_2_C2_3_retryOnFailure_is_kept_and_absent_means_false(self):
        client = self.start()
        for given, kept in (({"retryOnFailure": True}, True), ({"retryOnFailure": False}, False),
                            ({"retryOnFailure": None}, False), ({}, False)):  # fmt: skip
            status, answer = client.post(**given)
            self.assertEqual(status, 201, answer)
            self.assertIs(client.status(answer["id"])["retryOnFailure"], kept, given)
            task = self.server.call("GET", f"/v1/tasks/{answer['id']}")[1]
            self.assertIs(task["retry_on_failure"], kept)
            self.assertNotIn("retryOnFailure", task["payload"])

    def test_a_bad_body_is_refused_with_every_field_that_is_wrong_and_nothing_is_stored(self):
        client = self.start()
        status, problem = client.post(to="0x12", data="0xf", retryOnFailure="yes", gasLimit=20000, nonce=5)
        self.assertEqual((status, problem["type"]), (400, "urn:holdfast:invalid-argument"))
        wrong = {part["where"]: part["detail"] for part in problem["errors"]}
        self.assertEqual(sorted(wrong), ["data", "gasLimit", "nonce", "retryOnFailure", "to"])
        self.assertEqual(wrong["to"], '"0x12" does not match ^0x[0-9a-fA-F]{40}$')
        self.assertEqual(wrong["gasLimit"], "it must be at least 21000")
        self.assertIn("true or false is expected", wrong["retryOnFailure"])
        self.assertIn("unknown field", wrong["nonce"])
        status, problem = self.server.call("POST", "/relay/direct", {})
        self.assertEqual((status, problem["errors"]), (400, [{"where": "to", "detail": "is missing"}]))
        for body in ([], "text", 5):
            self.assertEqual(self.server.call("POST", "/relay/direct", body)[0], 400, body)
        self.assertEqual(self.server.call("POST", "/relay/direct")[0], 415)
        self.assertEqual(self.server.call("GET", "/v1/tasks")[1]["tasks"], [])

    def test_a_key_stands_for_one_transaction(self):
        client = self.start()
        first = client.post(idempotencyKey="order-17", value="5")
        done = client.ended(first[1]["id"])
        again = client.post(value="5", idempotencyKey="order-17")
        self.assertEqual((again[0], again[1]), (200, {"id": done["id"], "status": "succeeded"}))
        self.assertEqual(client.post(value="6", idempotencyKey="order-17")[0], 409)
        self.assertEqual(len(self.relayer.sent()), 1)

    def test_only_its_own_tasks_are_shown(self):
        client = self.start()
        status, other = self.server.call("POST", "/v1/tasks", {"type": "other", "queue": "q"})
        self.assertEqual(status, 201)
        self.assertEqual(self.server.call("GET", f"/relay/{other['id']}")[0], 404)
        self.assertEqual(self.server.call("GET", "/relay/nonsense")[0], 404)
        self.assertEqual(self.server.call("GET", "/relay/direct")[0], 404)
        self.assertEqual(self.server.call("DELETE", "/relay/direct")[0], 405)
        self.assertEqual(self.server.call("POST", f"/relay/{other['id']}", {})[0], 405)
        client.ended(client.relay())

    def test_the_routes_are_in_the_document_of_the_API(self):
        client = self.start()
        document = self.server.call("GET", "/openapi.json")[1]
        post = document["paths"]["/relay/direct"]["post"]
        get = document["paths"]["/relay/{id}"]["get"]
        self.assertEqual((post["summary"], post["x-holdfast-role"]), ("Relay a transaction", "submit"))
        self.assertEqual((get["summary"], get["x-holdfast-role"]), ("How a transaction stands", "submit"))
        self.assertIn("/v1/tasks", document["paths"])
        body = post["requestBody"]["content"]["application/json"]["schema"]
        validator = jsonschema.Draft202012Validator(body)
        # The document and the server say the same of a body, good or bad.
        for sample in ({"to": relayer.TO}, {"to": relayer.TO, "gasLimit": 21000.0, "value": "7"}, {"to": "0x12"},
                       {}, {"to": relayer.TO, "data": "0xf"}, {"to": relayer.TO, "more": 1},
                       {"to": relayer.TO, "retryOnFailure": 1}, {"to": relayer.TO, "idempotencyKey": ""}):  # fmt: skip
            status, answer = self.server.call("POST", "/relay/direct", sample)
            self.assertEqual(status == 201, validator.is_valid(sample), (sample, answer))
        shown = get["responses"]["200"]["content"]["application/json"]["schema"]
        task = client.relay("fail 400 no")
        client.ended(task)
        jsonschema.Draft202012Validator(shown).validate(client.status(task))

    def test_routes_change_while_the_server_runs_or_not_at_all(self):
        client = self.start()
        task = client.relay()
        config = relayer.config(self.relayer, **self.changes)
        self.reload(config.replace("GET /relay/{id}", "GET /tx/{id}"), "config.reloaded")
        self.assertEqual(self.server.call("GET", f"/relay/{task}")[0], 404)
        self.assertEqual(self.server.call("GET", f"/tx/{task}")[0], 200)
        self.assertIn("/tx/{id}", self.server.call("GET", "/openapi.json")[1]["paths"])
        self.reload(config.replace("^0x[0-9a-fA-F]{40}$", "^(0x"), "config.refused")
        self.assertEqual(self.server.call("GET", f"/tx/{task}")[0], 200)
        self.assertEqual(client.post()[0], 201)

    def reload(self, config, event):
        told = len(self.server.log)
        self.server.configure(config)
        self.server.process.send_signal(signal.SIGHUP)
        while not any(f'"{event}"' in line for line in self.server.log[told:]):
            self.assertIsNone(self.server.process.poll())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
