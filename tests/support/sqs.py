#!/usr/bin/env python3
"""fauxqs, which speaks SQS, for tests: a port of its own, loopback only, gone with whoever started it.

    with sqs.Server() as server:
        server.url                       # http://127.0.0.1:PORT
        server.call("CreateQueue", QueueName="jobs")["QueueUrl"]

As a command:
    sqs.py run -- COMMAND …              # one for this command; HOLDFAST_SQS is its URL"""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request

from processes import kill_with_parent

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Server:
    """Port 0 is any that is free; what is in it is gone when it ends."""

    def __init__(self, port=0):
        self.process = subprocess.Popen(
            ["node", f"{ROOT}/tests/support/fauxqs.mjs"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=os.environ | {"FAUXQS_PORT": str(port)},
            preexec_fn=kill_with_parent)  # fmt: skip
        said = []
        self.port = None
        for line in self.process.stdout:
            said.append(line)
            if found := re.search(r"listening on 127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        if self.port is None:
            self.end()
            raise RuntimeError(f"fauxqs does not start:\n{''.join(said)}")
        self.reader = threading.Thread(target=lambda: [None for _ in self.process.stdout], daemon=True)
        self.reader.start()
        self.url = f"http://127.0.0.1:{self.port}"

    def call(self, operation, **members):
        """What SQS answers; an HTTPError where it refuses. botocore of Debian 12 does not speak JSON with it."""
        request = urllib.request.Request(
            self.url, json.dumps(members).encode(),
            {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AmazonSQS.{operation}"})  # fmt: skip
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def end(self):
        self.process.kill()
        self.process.wait()
        if self.port is not None:
            self.reader.join()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def main(arguments):
    if len(arguments) < 3 or arguments[:2] != ["run", "--"]:
        sys.exit(__doc__)
    with Server() as server:
        return subprocess.run(arguments[2:], env=os.environ | {"HOLDFAST_SQS": server.url}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
