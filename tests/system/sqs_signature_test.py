#!/usr/bin/env python3
"""Requests to SQS carry the signature that botocore, Amazon's own client, gives them: fauxqs believes whoever asks.

Usage: sqs_signature_test.py SQS_SIGN"""

import datetime
import itertools
import os
import subprocess
import sys
import unittest
import unittest.mock
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials

SQS_SIGN = os.path.abspath(sys.argv[1])
ENDPOINTS = [
    "http://127.0.0.1:4566", "https://sqs.eu-central-1.amazonaws.com", "https://sqs.us-east-1.amazonaws.com:443",
    "http://elasticmq.example.org:80/", "https://gateway.example.org:8443/sqs", "http://gateway.example.org/a%20b/",
]  # fmt: skip
SECRETS = [("AKIDEXAMPLE", "wJalr/XUtn+FEMI", ""), ("id", "s", "session/token+with==signs")]
BODIES = ['{"QueueName":"jobs"}', '{"MessageBody":"grüße 🚀\\n"}', "{}", '{"x":"' + "y" * 100_000 + '"}']
OPERATIONS = ["GetQueueUrl", "SendMessageBatch"]
TIMES = [0, 1794822080]


class Case:
    def __init__(self, endpoint, region, secrets, seconds, operation, body):
        self.endpoint, self.region, self.secrets = endpoint, region, secrets
        self.seconds, self.operation, self.body = seconds, operation, body

    def line(self):
        return "\t".join([self.endpoint, self.region, *self.secrets, str(self.seconds), self.operation,
                          self.body.encode().hex()])  # fmt: skip

    def __repr__(self):
        return f"{self.endpoint} {self.region} {self.secrets} {self.seconds} {self.operation} {self.body[:40]}"


def signed_by_botocore(case, url, content_hash):
    request = botocore.awsrequest.AWSRequest("POST", url, data=case.body.encode(), headers={
        "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AmazonSQS.{case.operation}",
        "X-Amz-Content-SHA256": content_hash})  # fmt: skip
    credentials = botocore.credentials.Credentials(case.secrets[0], case.secrets[1], case.secrets[2] or None)
    now = datetime.datetime.fromtimestamp(case.seconds, datetime.timezone.utc).replace(tzinfo=None)
    with unittest.mock.patch("botocore.auth.datetime") as clock:
        clock.datetime.utcnow.return_value = now
        botocore.auth.SigV4Auth(credentials, "sqs", case.region).add_auth(request)
    return request


class SignatureTest(unittest.TestCase):
    def test_is_that_of_botocore(self):
        cases = [Case(*one) for one in
                 itertools.product(ENDPOINTS, ["us-east-1", "eu-central-1"], SECRETS, TIMES, OPERATIONS, BODIES)]  # fmt: skip
        said = subprocess.run([SQS_SIGN], input="".join(case.line() + "\n" for case in cases), text=True,
                              capture_output=True, check=True).stdout.splitlines()  # fmt: skip
        self.assertEqual(len(said), len(cases))
        for case, line in zip(cases, said):
            url, *headers = line.split("\t")
            ours = dict(zip(headers[::2], headers[1::2]))
            theirs = signed_by_botocore(case, url, ours["x-amz-content-sha256"])
            self.assertEqual(ours["Authorization"], theirs.headers["Authorization"], case)
            for name in ("x-amz-date", "x-amz-security-token"):
                self.assertEqual(ours.get(name), theirs.headers.get(name), case)
            sent, wanted = urllib.parse.urlsplit(url), urllib.parse.urlsplit(case.endpoint)
            self.assertEqual(sent.hostname, wanted.hostname, case)
            self.assertEqual(sent.path, wanted.path.rstrip("/") + "/", case)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
