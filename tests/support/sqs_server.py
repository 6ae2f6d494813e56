"""fauxqs as a test of the whole program sees it: queues that are made, filled, counted and emptied by name."""

import json

import sqs

REGION = "us-east-1"
# Who asks: fauxqs knows anybody.
KEYS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything", "AWS_EC2_METADATA_DISABLED": "true"}


class SqsServer(sqs.Server):
    def url_of(self, queue):
        return self.call("GetQueueUrl", QueueName=queue)["QueueUrl"]

    def make(self, queue, dead=None, receives=3, **attributes):
        """The queue's URL; with a dead-letter queue behind it if one is named."""
        if dead:
            arn = self.attributes(dead)["QueueArn"]
            attributes["RedrivePolicy"] = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": receives})
        if queue.endswith(".fifo"):
            attributes["FifoQueue"] = "true"
        return self.call("CreateQueue", QueueName=queue, Attributes=attributes)["QueueUrl"]

    def attributes(self, queue):
        return self.call("GetQueueAttributes", QueueUrl=self.url_of(queue), AttributeNames=["All"])["Attributes"]

    def count(self, queue):
        """All that is there: to be had, under way and waiting for its time."""
        seen = self.attributes(queue)
        return sum(int(seen["ApproximateNumberOfMessages" + kind]) for kind in ("", "NotVisible", "Delayed"))

    def send(self, queue, body, **more):
        return self.call("SendMessage", QueueUrl=self.url_of(queue), MessageBody=body, **more)["MessageId"]

    def receive(self, queue, most=10, **more):
        return self.call("ReceiveMessage", QueueUrl=self.url_of(queue), MaxNumberOfMessages=most,
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
                self.call("DeleteMessage", QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return found
