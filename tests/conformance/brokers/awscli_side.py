"""The other side of a conversation: receives with awscli what we sent, and sends what we are to receive.

Usage: awscli_side.py ENDPOINT FROM BACK    # two queues; says "as sent", or how it is not"""

import json
import os
import subprocess
import sys
import tempfile

ENDPOINT, FROM, BACK = sys.argv[1:]
MODEL = "/usr/lib/python3/dist-packages/awscli/botocore/data/sqs/2012-11-05/service-2.json"


def in_json(shape):
    """The names that the older protocol has for things are not those of the one in JSON."""
    if isinstance(shape, list):
        return [in_json(one) for one in shape]
    if not isinstance(shape, dict):
        return shape
    return {key: in_json(value) for key, value in shape.items() if key not in ("flattened", "locationName")}


def speaks_json(folder):
    """awscli of Debian 12 is of before SQS spoke JSON, which is all that fauxqs understands: told so by a model."""
    os.makedirs(f"{folder}/models/sqs/2012-11-05")
    with open(MODEL, encoding="utf-8") as file:
        model = json.load(file)
    model["shapes"] = in_json(model["shapes"])
    model["metadata"] |= {"protocol": "json", "jsonVersion": "1.0", "targetPrefix": "AmazonSQS"}
    with open(f"{folder}/models/sqs/2012-11-05/service-2.json", "w", encoding="utf-8") as file:
        json.dump(model, file)
    return f"{folder}/models"


def aws(folder, models, *words):
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": folder, "AWS_DATA_PATH": models, "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    done = subprocess.run(
        ["/usr/bin/aws", "--endpoint-url", ENDPOINT, "--output", "json", "sqs", *words], env=environment, text=True,
        capture_output=True, check=False)  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"aws {words[0]}: {done.stderr}")
    return json.loads(done.stdout or "{}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        models = speaks_json(folder)

        def url(queue):
            return aws(folder, models, "get-queue-url", "--queue-name", queue)["QueueUrl"]

        received = aws(folder, models, "receive-message", "--queue-url", url(FROM), "--wait-time-seconds", "10",
                       "--message-attribute-names", "All")["Messages"][0]  # fmt: skip
        attributes = received["MessageAttributes"]
        ours = json.loads(attributes.pop("holdfast")["StringValue"])
        wanted = {
            "MessageType": {"StringValue": "order.new", "DataType": "String"},
            "count": {"StringValue": "7", "DataType": "Number"},
            "raw": {"BinaryValue": "AP8=", "DataType": "Binary"},
        }
        if received["Body"] != "grüße {}" or attributes != wanted or ours["properties"]["type"] != "mail.send":
            return print(json.dumps(received))
        aws(folder, models, "send-message", "--queue-url", url(BACK), "--message-body", "from awscli", "--message-attributes",
            json.dumps({
                "MessageType": {"DataType": "String", "StringValue": "täxt"},
                "count": {"DataType": "Number", "StringValue": "5"},
                "raw": {"DataType": "Binary", "BinaryValue": "AP8="},
            }))  # fmt: skip
        return print("as sent")


main()
