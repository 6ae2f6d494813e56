"""A TCP proxy that cuts connections where it is told to: at a frame of AMQP, or all at once."""

import contextlib
import socket
import struct
import threading

PUBLISH = (60, 40)
ACK = (60, 80)
DELIVER = (60, 60)


def _frames(buffer):
    """Whole frames at the start of the buffer, as (bytes, method), and what is left."""
    found = []
    at = 0
    while True:
        if buffer[at:at + 4] == b"AMQP":  # the greeting of a client
            if len(buffer) < at + 8:
                break
            found.append((bytes(buffer[at:at + 8]), None))
            at += 8
            continue
        if len(buffer) < at + 7:
            break
        kind, _, size = struct.unpack_from(">BHI", buffer, at)
        end = at + 7 + size + 1
        if len(buffer) < end:
            break
        method = struct.unpack_from(">HH", buffer, at + 7) if kind == 1 else None
        found.append((bytes(buffer[at:end]), method))
        at = end
    return found, buffer[at:]


class Proxy:
    """Passes everything on, until a rule cuts. Of several ports, in a list, each connection goes to the first that takes
    it. With `frames`, which are those of AMQP: A rule is asked for each frame before it is passed on, with
    ("client" or "server", method or None): True cuts that connection, both ways and at once."""

    def __init__(self, port, frames=True):
        self.targets = port if isinstance(port, list) else [port]
        self.split = _frames if frames else lambda data: ([(bytes(data), None)], bytearray())
        self.rule = lambda side, method: False
        self.swallows = None  # (side, method): such frames are not passed on, and nobody is told
        self.cuts = 0
        self._pairs = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._refuses = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                if self._refuses:
                    raise OSError
                server = self._connect()
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            pair = (client, server)
            with self._lock:
                self._pairs.add(pair)
            state = {"counts": {}}
            for side, source, sink in (("client", client, server), ("server", server, client)):
                threading.Thread(target=self._pump, args=(side, source, sink, pair, state), daemon=True).start()

    def _connect(self):
        """To the first of the targets that takes it; OSError if none does."""
        for port in self.targets:
            with contextlib.suppress(OSError):
                return socket.create_connection(("127.0.0.1", port), timeout=10)
        raise OSError("nobody listens")

    def _pump(self, side, source, sink, pair, state):
        rest = bytearray()
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                found, rest = self.split(rest + data)
                out = bytearray()
                for frame, method in found:
                    if self.swallows == (side, method):
                        continue
                    if self.rule(side, method):
                        sink.sendall(out)
                        self.cuts += 1
                        break
                    out += frame
                else:
                    sink.sendall(out)
                    continue
                break
        self._cut(pair)

    def _cut(self, pair):
        with self._lock:
            self._pairs.discard(pair)
        for one in pair:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def cut_all(self):
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            self.cuts += 1
            self._cut(pair)

    def refuse(self, yes=True):
        self._refuses = yes

    def close(self):
        self._listener.close()
        self.cut_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def cut_once_after(side, method, count):
    """Cuts the connection that sees `method` first, after so many frames of that side from there on (0: before
    it); then never again."""
    lock = threading.Lock()
    state = {"thread": None, "seen": 0, "done": False}

    def rule(from_side, seen):
        if from_side != side:
            return False
        with lock:
            if state["done"]:
                return False
            me = threading.get_ident()  # one for each connection and side
            if state["thread"] is None and seen == method:
                state["thread"] = me
            if state["thread"] != me:
                return False
            state["seen"] += 1
            state["done"] = state["seen"] > count
            return state["done"]

    return rule
