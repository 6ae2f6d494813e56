"""A server that speaks SQS, written by others (fauxqs), and a client of it that others wrote (botocore): on a port
of its own, and gone with its test."""

import botocore.config
import botocore.session

from s3_servers import S3Server

REGION = "us-east-1"
# Who asks: fauxqs knows anybody.
KEYS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything", "AWS_EC2_METADATA_DISABLED": "true"}


class SqsServer(S3Server):
    def __init__(self, port=0):
        super().__init__("fauxqs", None, port)
        self.sqs = botocore.session.get_session().create_client(
            "sqs", endpoint_url=self.url, region_name=REGION, aws_access_key_id="anybody",
            aws_secret_access_key="anything", config=botocore.config.Config(retries={"max_attempts": 0}))  # fmt: skip

    def end(self):
        super().end()
        self.sqs.close()

    def url_of(self, queue):
        return self.sqs.get_queue_url(QueueName=queue)["QueueUrl"]

    def make(self, queue, dead=None, receives=3, **attributes):
        """The queue's URL; with a dead-letter queue behind it if one is named."""
        if dead:
            arn = self.attributes(dead)["QueueArn"]
            attributes["RedrivePolicy"] = f'{{"deadLetterTargetArn": "{arn}", "maxReceiveCount": {receives}}}'
        if queue.endswith(".fifo"):
            attributes["FifoQueue"] = "true"
        return self.sqs.create_queue(QueueName=queue, Attributes=attributes)["QueueUrl"]

    def attributes(self, queue):
        return self.sqs.get_queue_attributes(QueueUrl=self.url_of(queue), AttributeNames=["All"])["Attributes"]

    def count(self, queue):
        """All that is there: to be had, under way and waiting for its time."""
        seen = self.attributes(queue)
        return sum(int(seen["ApproximateNumberOfMessages" + kind]) for kind in ("", "NotVisible", "Delayed"))

    def send(self, queue, body, **more):
        return self.sqs.send_message(QueueUrl=self.url_of(queue), MessageBody=body, **more)["MessageId"]

    def take(self, queue, most=100):
        """So many of its messages at most, which are gone then."""
        url, found = self.url_of(queue), []
        while len(found) < most:
            got = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=min(10, most - len(found)),
                                           AttributeNames=["All"], MessageAttributeNames=["All"])  # fmt: skip
            if not got.get("Messages"):
                break
            for message in got["Messages"]:
                found.append(message)
                self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return found
