#!/usr/bin/env python3
"""Requests for objects carry the signature that botocore, Amazon's own client, gives them. The servers of
input_test.py would not tell: most of them believe whoever asks.

Usage: s3_signature_test.py S3_SIGN"""

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
import botocore.serialize
import botocore.session

S3_SIGN = os.path.abspath(sys.argv[1])
KEYS = [
    "a", "a/b.txt", "with space.txt", "two  spaces/ at ends ", "plus+sign", "tilde~", "-._~", "%20", "100%",
    "a//b", "/leading", "trailing/", "q?x=1&y=2", "hash#tag", "semi;colon", "equals=", "a&b", "quote'\"", "(round)",
    "[square]{curly}", "back\\slash", "at@sign", "colon:", "comma,", "star*", "dollar$", "bang!", "pipe|", "caret^",
    "gräve`", "über/straße.pdf", "日本語/ファイル.txt", "emoji-🚀", "e\u0301", "tab\tkey", "x" * 1024, "..a/b..", "...",
]  # fmt: skip
ENDPOINTS = [
    "http://127.0.0.1:9000", "http://localhost", "https://s3.amazonaws.com", "https://s3.eu-central-1.amazonaws.com:443",
    "http://minio.example.org:80", "https://minio.example.org:8443",
]  # fmt: skip
SECRETS = [("AKIDEXAMPLE", "wJalr/XUtn+FEMI", ""), ("id", "s", "session/token+with==signs")]
REGIONS = ["us-east-1", "eu-central-1"]
TIMES = [0, 1369353600, 1794822080, 4102444799]


class Case:
    def __init__(self, endpoint, region, style, secrets, seconds, key):
        self.endpoint, self.region, self.style, self.secrets = endpoint, region, style, secrets
        self.seconds, self.key = seconds, key

    def line(self):
        return "\t".join([self.endpoint, self.region, self.style, *self.secrets, str(self.seconds), "uploads",
                          self.key.encode().hex()])  # fmt: skip

    def __repr__(self):
        return repr(vars(self))


def path_of(serializer, operation, key):
    """The path as botocore writes it: /uploads/…"""
    return serializer.serialize_to_request({"Bucket": "uploads", "Key": key}, operation)["url_path"]


def signed_by_botocore(case, path):
    scheme, rest = case.endpoint.split("://")
    if case.style == "host":
        rest, path = "uploads." + rest, path.removeprefix("/uploads")
    request = botocore.awsrequest.AWSRequest("GET", f"{scheme}://{rest}{path}")
    credentials = botocore.credentials.Credentials(case.secrets[0], case.secrets[1], case.secrets[2] or None)
    now = datetime.datetime.fromtimestamp(case.seconds, datetime.timezone.utc).replace(tzinfo=None)
    with unittest.mock.patch("botocore.auth.datetime") as clock:
        clock.datetime.utcnow.return_value = now
        botocore.auth.S3SigV4Auth(credentials, "s3", case.region).add_auth(request)
    return request


class SignatureTest(unittest.TestCase):
    def test_is_that_of_botocore(self):
        keys = [Case(ENDPOINTS[0], REGIONS[0], "path", SECRETS[0], TIMES[2], key) for key in KEYS]
        rest = itertools.product(ENDPOINTS, REGIONS, ["path", "host"], SECRETS, TIMES, KEYS[1:3])
        cases = keys + [Case(*one) for one in rest if not (one[2] == "host" and "127.0.0.1" in one[0])]
        said = subprocess.run([S3_SIGN], input="".join(case.line() + "\n" for case in cases), text=True,
                              capture_output=True, check=True).stdout.splitlines()  # fmt: skip
        self.assertEqual(len(said), len(cases))
        model = botocore.session.get_session().get_service_model("s3")
        operation = model.operation_model("GetObject")
        serializer = botocore.serialize.create_serializer("rest-xml", include_validation=False)
        for case, line in zip(cases, said):
            url, *headers = line.split("\t")
            ours = dict(zip(headers[::2], headers[1::2]))
            theirs = signed_by_botocore(case, path_of(serializer, operation, case.key))
            self.assertEqual(ours["Authorization"], theirs.headers["Authorization"], case)
            for name in ("x-amz-date", "x-amz-content-sha256", "x-amz-security-token"):
                self.assertEqual(ours.get(name), theirs.headers.get(name), case)
            sent, wanted = urllib.parse.urlsplit(url), urllib.parse.urlsplit(theirs.url)
            self.assertEqual((sent.path, sent.query), (wanted.path, wanted.query), case)
            self.assertEqual(sent.hostname, wanted.hostname, case)

    def test_nobody_signs_nothing(self):
        case = Case(ENDPOINTS[0], REGIONS[0], "path", ("", "", ""), TIMES[2], "a")
        said = subprocess.run([S3_SIGN], input=case.line() + "\n", text=True, capture_output=True, check=True).stdout
        self.assertEqual(said, "http://127.0.0.1:9000/uploads/a\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
