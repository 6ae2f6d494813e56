#!/usr/bin/env python3
"""fauxqs, which speaks SQS, for tests: a port of its own, loopback only, gone with whoever started it.

    with sqs.Server() as server:
        server.url                       # http://127.0.0.1:PORT
        server.client                    # botocore's, for this server

As a command:
    sqs.py run -- COMMAND …              # one for this command; HOLDFAST_SQS is its URL"""

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REGION = "us-east-1"
_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def _die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    """Port 0 is any that is free; what is in it is gone when it ends."""

    def __init__(self, port=0):
        self.process = subprocess.Popen(
            ["node", f"{ROOT}/tests/support/fauxqs.mjs"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=os.environ | {"FAUXQS_PORT": str(port)},
            preexec_fn=_die_with_parent)  # fmt: skip
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

    @property
    def client(self):
        import botocore.config
        import botocore.session

        return botocore.session.get_session().create_client(
            "sqs", endpoint_url=self.url, region_name=REGION, aws_access_key_id="id", aws_secret_access_key="secret",
            config=botocore.config.Config(retries={"max_attempts": 0}))  # fmt: skip

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
