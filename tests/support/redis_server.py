"""A real redis-server for tests and benchmarks: a private port and folder, loopback only, nothing left behind.

    with RedisServer(appendfsync="always") as redis:
        redis.url                       # redis://127.0.0.1:PORT
        redis.ask("INFO", "memory")     # the answer to one command
        redis.kill(); redis.start()     # SIGKILL, and again on the same folder and port

It ends with the process that started it, however that ends: Linux sends the signal. It is the thread that
counts, so start servers from one that lives as long as they should."""

import shutil
import socket
import subprocess
import tempfile
import time

from processes import kill_with_parent
from rabbitmq import free_ports

READY_WITHIN_S = 60


class RedisError(Exception):
    """What the server has answered instead of doing it."""


def ask(port, *command):
    """The answer to one command, on a connection of its own: text, number, None, or a list of them."""
    words = [str(word).encode() for word in command]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        with connection.makefile("rb") as lines:
            return _answer(lines)


def _answer(lines):
    line = lines.readline()
    if not line:
        raise ConnectionError("the server has closed the connection")
    kind, rest = line[:1], line[1:-2].decode()
    if kind == b"-":
        raise RedisError(rest)
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == "-1" else lines.read(int(rest) + 2)[:-2].decode(errors="replace")
    if kind == b"*":
        return None if rest == "-1" else [_answer(lines) for _ in range(int(rest))]
    return rest


class RedisServer:
    """appendfsync: always, everysec or no; None: no append-only file. The folder is kept if it was given."""

    def __init__(self, appendfsync="everysec", folder=None, settings=None):
        self.keep = folder is not None
        self.folder = folder or tempfile.mkdtemp(prefix="redis-")
        self.port = free_ports(1)[0]
        self.settings = {"appendonly": "yes" if appendfsync else "no"}
        if appendfsync:
            self.settings["appendfsync"] = appendfsync
        self.settings.update(settings or {})
        self.process = None

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def ask(self, *command):
        return ask(self.port, *command)

    def used_memory(self):
        """In bytes, but for buffers of connections and of its file, which come and go."""
        info = dict(line.split(":", 1) for line in self.ask("INFO", "memory").split("\r\n") if ":" in line)
        buffers = int(info["mem_aof_buffer"]) + int(info["mem_clients_normal"])
        return int(info["used_memory"]) - buffers

    def start(self):
        """Returns when it answers: on a new folder, or again on the one it had."""
        options = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder, "daemonize": "no", "save": "",
                   "loglevel": "warning", **self.settings}  # fmt: skip
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self.process = subprocess.Popen(["redis-server", *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, preexec_fn=kill_with_parent)  # fmt: skip
        end = time.monotonic() + READY_WITHIN_S
        while True:
            try:
                if self.ask("PING") == "PONG":
                    return self
            except (OSError, RedisError):  # not listening yet, or still reading its file
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"redis-server does not answer on port {self.port}")
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.kill()
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
