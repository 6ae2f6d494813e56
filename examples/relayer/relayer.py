#!/usr/bin/env python3
"""A relayer that sends nothing anywhere: it stands for the service that signs transactions and hands them to a
node, and can be told to answer with any error.

    relayer.py [PORT]            # 9545; 0 is any that is free

POST /relay     a transaction, as holdfast sends it: {"to": "0x…", "data": "0x…", …} → 200 {"hash": "0x…"}
POST /script    {"answers": [{"status": 503, "error": "busy", "headers": {"Retry-After": "1"}}, …]}: the next
                transactions are answered so, one after the other; {"answers": []} forgets the rest
GET  /sent      {"sent": {ID: HASH, …}, "requests": {ID: COUNT, …}}

A transaction may also say itself how it is answered: its data in hexadecimal are then words.

    fail STATUS TEXT             an error, whenever it comes:  fail 500 insufficient funds for gas
    fail*N STATUS TEXT           an error the first N times:   fail*2 503 busy
    hang                         no answer, until the caller has gone
    garbage                      something that is not HTTP

What was sent once is not sent again: a transaction that comes twice gets the hash of its first time."""

import hashlib
import http.server
import json
import re
import sys
import threading

SAYS = re.compile(r"fail(?:\*(?P<times>\d+))? (?P<status>\d{3}) (?P<error>.*)|(?P<word>hang|garbage)", re.DOTALL)


class State:
    """What the relayer remembers; requests come on threads of their own."""

    def __init__(self):
        self.lock = threading.Lock()
        self.script = []
        self.sent = {}
        self.requests = {}

    def answer(self, name, transaction):
        """How this transaction is answered this time: a dict as in a script."""
        with self.lock:
            self.requests[name] = self.requests.get(name, 0) + 1
            if self.script:
                return self.script.pop(0)
            said = SAYS.fullmatch(words_of(transaction))
            if said and said["word"]:
                return {said["word"]: True}
            if said and (said["times"] is None or self.requests[name] <= int(said["times"])):
                return {"status": int(said["status"]), "error": said["error"]}
            return {"hash": self.sent.setdefault(name, "0x" + hashlib.sha256(name.encode()).hexdigest())}


def words_of(transaction):
    try:
        return bytes.fromhex(transaction.get("data", "0x")[2:]).decode()
    except (AttributeError, ValueError):
        return ""


class Relayer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = State()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/script":
            with self.state.lock:
                self.state.script = list(body["answers"])
            return self.reply(200, "{}")
        if self.path != "/relay":
            return self.reply(404, "nothing here")
        # The id of the task is the same at every attempt: what tells a repetition from a new transaction.
        answer = self.state.answer(self.headers.get("webhook-id", "nameless"), body)
        if answer.get("hang"):
            self.rfile.read(1)  # ends when the caller hangs up
            self.close_connection = True
        elif answer.get("garbage"):
            self.wfile.write(b"this is not HTTP\r\n\r\n")
            self.close_connection = True
        elif "hash" in answer:
            self.reply(200, json.dumps({"hash": answer["hash"]}))
        else:
            self.reply(answer["status"], answer.get("error", ""), answer.get("headers", {}))

    def do_GET(self):
        with self.state.lock:
            self.reply(200, json.dumps({"sent": self.state.sent, "requests": self.state.requests}))

    def reply(self, status, text, headers=()):
        content = text.encode()
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # callers that have gone
            super().handle_error(request, client_address)


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9545), Relayer)
    print(f"relayer at http://127.0.0.1:{server.server_port}/relay", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
