"""The other side of a test: takes a message of ours with a client that others wrote, says whether it is as
sent, and sends one of its own.

Usage: pika_side.py URL FROM TO"""

import datetime
import decimal
import sys

import pika

url, source, target = sys.argv[1:]
connection = pika.BlockingConnection(pika.URLParameters(url))
channel = connection.channel()
_, properties, body = channel.basic_get(source, auto_ack=True)
headers = dict(properties.headers)
expected = {
    "nothing": None, "yes": True, "no": False, "int16": -16000, "uint16": 60000, "int32": -32,
    "uint32": 4_000_000_000, "decimal": decimal.Decimal("123.45"), "text": "täxt", "bytes": b"\0\xff",
    "time": datetime.datetime.fromtimestamp(1_700_000_001, datetime.timezone.utc).replace(tzinfo=None),
    "array": ["one", 2, None], "table": {"inner": {"deep": "down"}},
}  # fmt: skip
wrong = {name: (headers.get(name), value) for name, value in expected.items() if headers.get(name) != value}
# pika reads these with another sign, or cuts them to whole numbers.
unlike = {"int8", "uint8", "int64", "float", "double"}
wrong |= {name: (headers[name], "not sent") for name in headers.keys() - expected.keys() - unlike}
fine = (
    not wrong and "x-holdfast-seq" not in headers and body == b"body with \0 in it" and properties.priority == 3
    and properties.delivery_mode == 2 and properties.message_id == "message-1"
    and properties.timestamp == 1_700_000_000 and properties.content_type == "application/json"
)  # fmt: skip
print("as sent" if fine else f"not as sent: {wrong} {properties}", flush=True)
channel.basic_publish("", target, b"from pika", pika.BasicProperties(headers={
    "yes": True, "small": -5, "large": 5_000_000_000, "text": "täxt", "bytes": b"\0\xff",
    "time": datetime.datetime.fromtimestamp(1_700_000_001, datetime.timezone.utc).replace(tzinfo=None),
    "decimal": decimal.Decimal("123.45"), "nothing": None, "list": ["one", 2], "dict": {"inner": False},
}))  # fmt: skip
connection.close()
