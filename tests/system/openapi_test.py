#!/usr/bin/env python3
"""What the built server says of its API is what it does: every route refuses whom it should, and what it
answers has the form that /openapi.json gives it.

Usage: openapi_test.py HOLDFAST"""

import os
import re
import sys
import unittest

import jsonschema

import serve_test

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

from waiting import eventually  # noqa: E402

ROLES = ("submit", "read", "work", "operate")
ROUTES = """
[route."POST /echo/now"]
task = "echo"
body = { word = { type = "string", required = true, max_length = 9 }, times = { type = "integer", as = "priority" } }
answer = { id = "{id}", status = "{state}", known = "{existed}", priority = "{priority}", word = "{payload.word}" }
[route."POST /echo/work"]
task = "echo"
role = "work"
[route."GET /echo/{id}"]
task = "echo"
answer = { id = "{id}", error = "{error}", since = "{changed}", until = "{deadline}", told = ["{result}", "no. {id}"] }
"""


def bearer(role):
    return {"Authorization": f"Bearer {role}-{role}-{role}-{role}"}


class OpenApiTest(serve_test.SystemTest):
    def start(self):
        config = "".join(f'[token.{role}]\nrole = "{role}"\nsecret = "env:{role}"\n' for role in ROLES)
        server = self.serve(
            config + '[task.echo]\ncommand = ["cat"]\n[task.bad]\ncommand = ["sh", "-c", "exit 65"]\n'
            '[task.pulled]\npull = true\nqueue = "away"\nretry = { attempts = 1 }\n' + ROUTES,
            {role: "-".join([role] * 4) for role in ROLES})  # fmt: skip
        status, document = server.call("GET", "/openapi.json")
        self.assertEqual(status, 200)
        self.assertTrue(document["openapi"].startswith("3.1."))
        self.assertRegex(document["info"]["version"], r"^\d+\.\d+\.\d+")
        return server, document

    def operations(self, document):
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), re.sub(r"\{\w+\}", "x", path), operation

    def test_every_route_refuses_no_token_a_wrong_one_and_a_lesser_one(self):
        server, document = self.start()
        for method, path, operation in self.operations(document):
            role = operation["x-holdfast-role"]
            body = {} if method == "POST" else None
            if role == "anyone":
                # Who logs in or out must be a page of the server's own: session_test.py
                self.assertEqual(server.call(method, path, body)[0], 200 if method == "GET" else 403, path)
                continue
            self.assertEqual(server.call(method, path, body)[0], 401, path)
            wrong = {"Authorization": "Bearer wrong-wrong-wrong-wrong"}
            self.assertEqual(server.call(method, path, body, wrong)[0], 401, path)
            for lesser in ROLES:
                if lesser in (role, "operate"):
                    continue
                status, problem = server.call(method, path, body, bearer(lesser))
                self.assertEqual(status, 403, f"{method} {path} as {lesser}")
                self.assertNotIn(lesser * 2, str(problem))
        self.assertEqual(server.end(), 0)

    def test_answers_have_the_form_that_the_document_says(self):
        server, document = self.start()
        seen = set()

        def ask(method, path, body=None, **fill):
            operation = document["paths"][path][method.lower()]
            seen.add((method, path))
            if body is not None:
                self.check(document, operation["requestBody"]["content"]["application/json"]["schema"], body)
            target = path
            for name, value in fill.items():
                target = target.replace("{" + name + "}", value)
            status, answer = server.call(method, target, body, bearer("operate"))
            response = operation["responses"].get(str(status), operation["responses"]["default"])
            if "$ref" in response:
                response = document["components"]["responses"][response["$ref"].split("/")[-1]]
            (content,) = response["content"].values()
            self.check(document, content["schema"], answer)
            return status, answer

        _, accepted = ask("POST", "/v1/tasks", {"type": "echo", "payload": {"a": 1}, "key": "k", "delay": "0s"})
        self.assertEqual(ask("POST", "/v1/tasks", {"type": "echo", "payload": {"a": 1}, "key": "k"})[0], 200)
        self.assertEqual(ask("POST", "/v1/tasks", [{"type": "echo"}, {"type": "echo", "priority": 101}][:1])[0], 201)
        status, _ = server.call("POST", "/v1/tasks", [{"type": "echo"}, {"typ": 1}], bearer("submit"))
        self.assertEqual(status, 207)
        server.ended(accepted["id"], bearer("read"))
        ask("GET", "/v1/tasks/{id}", id=accepted["id"])
        ask("GET", "/v1/tasks")
        _, failed = ask("POST", "/v1/tasks", {"type": "bad"})
        server.ended(failed["id"], bearer("read"))
        self.assertEqual(ask("POST", "/v1/tasks/{id}/cancel", id=failed["id"])[0], 409)
        ask("GET", "/v1/dead")
        ask("GET", "/v1/dead/groups")
        group = server.call("GET", "/v1/dead/groups", None, bearer("read"))[1]["groups"][0]["id"]
        self.assertEqual(ask("GET", "/v1/dead/groups/{id}", id=group)[0], 200)
        self.assertEqual(ask("GET", "/v1/tasks/count")[1]["complete"], True)
        self.look_at_operations(server, ask, failed["id"])
        ask("POST", "/v1/dead/replay", {"filter": {"state": "failed"}, "limit": 10})
        ask("POST", "/v1/dead/discard", {"ids": [accepted["id"]]})
        ask("POST", "/v1/tasks/{id}/retry", id=accepted["id"])
        ask("GET", "/v1/queues")
        ask("POST", "/v1/queues/{name}/pause", name="away")
        ask("POST", "/v1/queues/{name}/resume", name="away")
        for _ in range(2):
            ask("POST", "/v1/tasks", {"type": "pulled", "queue": "away", "payload_text": "t"})
        _, claims = ask("POST", "/v1/claims", {"queue": "away", "max": 2, "wait": "10s", "lease": 30, "worker": "w"})
        first, second = claims["claims"]
        ask("POST", "/v1/claims/{id}/extend", {"token": first["token"], "lease": "1m"}, id=first["id"])
        ask("POST", "/v1/claims/{id}/complete", {"token": first["token"], "result": [1]}, id=first["id"])
        ask("POST", "/v1/claims/{id}/fail", {"token": second["token"], "message": "no", "kind": "error"}, id=second["id"])
        ask("GET", "/v1/tasks/{id}", id=second["id"])
        ask("POST", "/v1/tasks", {"type": "pulled", "queue": "away"})
        _, claims = ask("POST", "/v1/claims", {"queue": "away", "wait": "10s"})
        (third,) = claims["claims"]
        ask("POST", "/v1/claims/{id}/release", {"token": third["token"]}, id=third["id"])
        ask("POST", "/v1/claims/withdraw", {"worker": "w"})
        ask("POST", "/v1/queues/{name}/limit", {"concurrency": 3}, name="away")
        ask("GET", "/v1/stats")
        ask("GET", "/v1/series")
        ask("POST", "/v1/claims", {"queue": "away", "wait": "10s"})
        ask("GET", "/v1/workers")
        ask("GET", "/v1/session")
        ask("GET", "/metrics")
        _, echo = ask("POST", "/echo/now", {"word": "hello", "times": 5})
        self.assertEqual((echo["priority"], echo["word"], echo["known"]), (5, "hello", False))
        self.assertEqual(ask("POST", "/echo/work", {})[0], 201)
        server.ended(echo["id"], bearer("read"))
        self.assertEqual(ask("GET", "/echo/{id}", id=echo["id"])[1]["told"][0], {"word": "hello"})
        self.assertEqual(ask("GET", "/echo/{id}", id=failed["id"])[0], 404)
        for path in ("/healthz", "/readyz", "/openapi.json"):
            ask("GET", path)
        left = {(method.upper(), path) for path, all_of_it in document["paths"].items() for method in all_of_it} - seen
        self.assertEqual(left - self.looked_at_elsewhere, set())
        self.assertEqual(server.end(), 0)

    def look_at_operations(self, server, ask, failed):
        """One that stands still once it is planned, and one of which nothing is left."""
        status, planned = ask("POST", "/v1/operations", {"query": "state:failed", "canary": True, "rate": 5, "cap": 1})
        self.assertEqual(status, 201)
        eventually("a plan", lambda: ask("GET", "/v1/operations/{id}", id=planned["id"])[1]["state"] == "planned")
        self.assertEqual(ask("POST", "/v1/operations/{id}/pause", id=planned["id"])[0], 409)
        self.assertEqual(ask("POST", "/v1/operations/{id}/resume", id=planned["id"])[0], 409)
        self.assertEqual(ask("POST", "/v1/operations/{id}/cancel", id=planned["id"])[0], 200)
        self.assertEqual(ask("POST", "/v1/operations/{id}/start", {"reset": False}, id=planned["id"])[0], 409)
        self.assertEqual(len(ask("GET", "/v1/operations")[1]["operations"]), 1)
        status, edited = ask("POST", "/v1/tasks/{id}/edit", {"payload": {"a": 2}}, id=failed)
        self.assertEqual((status, edited["original"]), (201, failed))
        self.assertEqual(ask("POST", "/v1/tasks/{id}/discard", {"reason": "none"}, id=failed)[0], 409)
        self.assertEqual(ask("GET", "/v1/audit")[1]["entries"][0]["action"], "edit")
        lines = server.call("GET", "/v1/audit?format=jsonl", None, bearer("read"))[1]
        self.assertIn("edit", str(lines))

    looked_at_elsewhere = {
        ("GET", "/v1/events"),  # seeing_test.py: it never ends
        ("POST", "/v1/session"),  # session_test.py: for browsers
        ("DELETE", "/v1/session"),
        ("GET", "/v1/brokers"),  # and what follows: brokers_test.py, at a broker
        ("GET", "/v1/brokers/{name}/queues"),
        ("POST", "/v1/brokers/{name}/queues/{queue}/sample"),
        ("GET", "/v1/recoveries"),
        ("POST", "/v1/recoveries"),
        ("GET", "/v1/recoveries/{id}"),
        ("POST", "/v1/recoveries/{id}/cancel"),
    }

    def check(self, document, schema, value):
        validator = jsonschema.Draft202012Validator(
            schema, resolver=jsonschema.RefResolver("", document))  # fmt: skip
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]
        self.assertEqual(errors, [], value)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
