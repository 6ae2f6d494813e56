"""A server that speaks SQS, written by others (fauxqs): on a port of its own, and gone with its test. Asked by its
JSON, as clients of today do; Debian's botocore and awscli still speak the protocol before that."""

import json
import urllib.error
import urllib.request

from s3_servers import S3Server

REGION = "us-east-1"
# Who asks: fauxqs knows anybody.
KEYS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything", "AWS_EC2_METADATA_DISABLED": "true"}


class SqsServer(S3Server):
    def __init__(self, port=0):
        super().__init__("fauxqs", None, port)

    def ask(self, operation, **what):
        request = urllib.request.Request(self.url, json.dumps(what).encode(), {
            "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"AmazonSQS.{operation}"})  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or "{}")
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{operation}: {error.read().decode()}") from error

    def url_of(self, queue):
        return self.ask("GetQueueUrl", QueueName=queue)["QueueUrl"]

    def make(self, queue, dead=None, receives=3, **attributes):
        """The queue's URL; with a dead-letter queue behind it if one is named."""
        if dead:
            arn = self.attributes(dead)["QueueArn"]
            attributes["RedrivePolicy"] = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": receives})
        if queue.endswith(".fifo"):
            attributes["FifoQueue"] = "true"
        return self.ask("CreateQueue", QueueName=queue, Attributes=attributes)["QueueUrl"]

    def attributes(self, queue):
        return self.ask("GetQueueAttributes", QueueUrl=self.url_of(queue), AttributeNames=["All"])["Attributes"]

    def count(self, queue):
        """All that is there: to be had, under way and waiting for its time."""
        seen = self.attributes(queue)
        return sum(int(seen["ApproximateNumberOfMessages" + kind]) for kind in ("", "NotVisible", "Delayed"))

    def send(self, queue, body, **more):
        return self.ask("SendMessage", QueueUrl=self.url_of(queue), MessageBody=body, **more)["MessageId"]

    def receive(self, queue, most=10, **more):
        return self.ask("ReceiveMessage", QueueUrl=self.url_of(queue), MaxNumberOfMessages=most,
                        AttributeNames=["All"], MessageAttributeNames=["All"], **more).get("Messages") or []  # fmt: skip

    def take(self, queue, most=100):
        """So many of its messages at most, which are gone then."""
        url, found = self.url_of(queue), []
        while len(found) < most:
            got = self.receive(queue, min(10, most - len(found)))
            if not got:
                break
            for message in got:
                found.append(message)
                self.ask("DeleteMessage", QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return found
