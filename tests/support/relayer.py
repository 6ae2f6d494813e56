"""examples/relayer for tests: its stand-in relayer as a process, its configuration with other addresses and
shorter waits, and transactions that say how they want to be answered."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "relayer")
TO = "0x00000000219ab540356cBB839Cbe05303d7705Fa"

# What of [queue.relay] says that SQS carries it.
_BROKER = re.compile(r"^(broker|dead_letter|max_receives|visibility)\w*\s*=.*\n", re.MULTILINE)


class Relayer:
    """The process of examples/relayer/relayer.py. end() always, also when a test fails."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", os.path.join(EXAMPLE, "relayer.py"), "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.url = self.process.stdout.readline().split()[-1]
        self.base = self.url.rsplit("/", 1)[0]

    def script(self, *answers):
        """The next transactions are answered so: {"status": 503, "error": "busy"} …"""
        request = urllib.request.Request(
            self.base + "/script", json.dumps({"answers": answers}).encode(), {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=60).close()

    def _told(self):
        with urllib.request.urlopen(self.base + "/sent", timeout=60) as answer:
            return json.load(answer)

    def sent(self):
        """The hash of each transaction that was relayed, by its id."""
        return self._told()["sent"]

    def requests(self):
        """How often each transaction came, by its id."""
        return self._told()["requests"]

    def end(self):
        self.process.kill()
        self.process.wait(timeout=60)
        self.process.stdout.close()


def config(relayer, *, sqs=None, queue="relay", more="", first="10ms", timeout="30s"):
    """The example as it is shipped, but for what a test must change: `sqs` is the endpoint of an SQS, without
    which the embedded store carries the queue. The keys of `more` go into [queue.relay], in place of its own."""
    with open(os.path.join(EXAMPLE, "holdfast.toml"), encoding="utf-8") as file:
        text = file.read()
    changes = [
        ('[http]\nlisten = "127.0.0.1:8080"\n', ""),  # the server of a test has its own
        ("http://127.0.0.1:9545/relay", relayer.url),
        ('timeout    = "30s"', f'timeout    = "{timeout}"'),
        ('first = "1s"', f'first = "{first}"'),
        ('"rules.toml"', json.dumps(os.path.join(EXAMPLE, "rules.toml"))),
    ]
    if sqs:
        changes += [
            ('"http://127.0.0.1:4566"', json.dumps(sqs)),
            ('"sqs://us-east-1/relay"', json.dumps(f"sqs://us-east-1/{queue}")),
            ('"relay-dlq"', json.dumps(f"{queue}-dlq")),
        ]
    for shipped, here in changes:
        assert shipped in text, shipped
        text = text.replace(shipped, here)
    if not sqs:
        text = _BROKER.sub("", text)
    return _with_keys(text, "[queue.relay]\n", more)


def _with_keys(text, heading, lines):
    """These keys in a table of the file, in place of what it says of them."""
    before, table, rest = text.partition(heading)
    block, gap, after = rest.partition("\n\n")
    names = {line.split("=")[0].strip() for line in lines.splitlines()}
    kept = [line for line in block.splitlines() if line.split("=")[0].strip() not in names]
    return before + table + lines + "\n".join(kept) + gap + after


def says(words):
    """The data of a transaction that says how the relayer is to answer it."""
    return "0x" + words.encode().hex()


class Client:
    """A client of the example's two routes."""

    def __init__(self, server):
        self.server = server

    def post(self, **body):
        return self.server.call("POST", "/relay/direct", {"to": TO} | body)

    def relay(self, words="", **body):
        """The id of a transaction that was accepted."""
        status, answer = self.post(data=says(words), **body)
        assert status == 201, answer
        return answer["id"]

    def status(self, task):
        status, answer = self.server.call("GET", f"/relay/{task}")
        assert status == 200, answer
        return answer

    def ended(self, task, states=("succeeded", "failed", "dead")):
        """How it stands, once it has come to an end."""
        while True:
            answer = self.status(task)
            if answer["status"] in states:
                return answer

    def classified(self, task, count=1):
        """What the log says of its failures: (level, message, category, error), in their order; once there are
        `count` of them, since the log is read by a thread of its own."""
        until = time.monotonic() + 60
        while True:
            records = [json.loads(line) for line in list(self.server.log) if '"event":"classify"' in line and task in line]
            if len(records) >= count or time.monotonic() > until:
                return [(said["level"], said["message"], said["category"], said["error"]) for said in records]
            time.sleep(0.01)
