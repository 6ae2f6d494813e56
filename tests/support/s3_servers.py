"""Servers that speak S3, written by others, and a client of them that others wrote: each on a port of its own,
in a folder of its own, and gone with its test."""

import os
import re
import subprocess
import threading

import botocore.config
import botocore.session

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ACCESS_KEY = SECRET_KEY = "S3RVER"  # whom s3rver knows; fauxqs knows anybody


class S3Server:
    """`kind` is "s3rver" or "fauxqs"; port 0 is any that is free."""

    def __init__(self, kind, folder, port=0):
        command = {
            "s3rver": [f"{ROOT}/node_modules/s3rver/bin/s3rver.js", "--directory", folder, "--address", "127.0.0.1",
                       "--port", str(port), "--no-vhost-buckets"],
            "fauxqs": [f"{ROOT}/tests/support/fauxqs.mjs"],
        }[kind]  # fmt: skip
        self.process = subprocess.Popen(
            ["node", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env=os.environ | {"FAUXQS_PORT": str(port)})  # fmt: skip
        said = []
        self.port = None
        for line in self.process.stdout:
            said.append(line)
            if found := re.search(r"listening on 127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                break
        if self.port is None:
            self.end()
            raise RuntimeError(f"{kind} does not start:\n{''.join(said)}")
        self.reader = threading.Thread(target=lambda: [None for _ in self.process.stdout])
        self.reader.start()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = botocore.session.get_session().create_client(
            "s3", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=botocore.config.Config(s3={"addressing_style": "path"}, retries={"max_attempts": 0}))  # fmt: skip

    def end(self):
        self.process.kill()
        self.process.wait()
        if self.port is not None:
            self.reader.join()
            self.client.close()
        self.process.stdout.close()
