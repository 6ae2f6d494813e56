#!/usr/bin/env python3
"""A real RabbitMQ for tests: private ports and folder, loopback only, nothing left behind.

    with rabbitmq.Broker() as broker:            # a temporary folder; up in about 5 s
        broker.url                               # amqp://guest:guest@127.0.0.1:PORT/
        broker.ctl("list_queues")                # rabbitmqctl, its output; CalledProcessError if it fails
        broker.kill(); broker.start()            # SIGKILL, and again on the same folder and ports
    with rabbitmq.shared() as broker:            # for tests that leave it running: a virtual host of a broker
        broker.url                               # that they share, if they run under `run --management`

As a command:
    rabbitmq.py start DIR [--until-parent-ends]  # leaves one running; its URL is in DIR/url
    rabbitmq.py stop DIR
    rabbitmq.py run [options] -- COMMAND …       # one for this command; HOLDFAST_RABBITMQ is its URL. With
                                                 # --management, HOLDFAST_RABBITMQ_MANAGEMENT is that of its
                                                 # API, and the tests within share it
    rabbitmq.py hold [options]                   # one until standard input ends; says its addresses as
                                                 # a line of JSON, then answers lines: ctl …, kill, stop, start,
                                                 # sync_queues

Every broker ends with the process that started it, however that ends: Linux sends the signal. It is the
thread that counts, so start brokers from one that lives as long as they should."""

import argparse
import base64
import contextlib
import json
import os
import random
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from processes import kill_with_parent

PROGRAMS = "/usr/lib/rabbitmq/bin"  # not those on PATH, which change the user
READY_WITHIN_S = 180  # on a slow machine; it takes 5 to 10
SHARED = "HOLDFAST_RABBITMQ_SHARED"  # the environment variable that tells of the broker that tests share


_ports = []  # that this process has reserved, until it ends


def free_ports(count):
    """Below the range from which the system takes the ports of outgoing connections, so that they are still
    free when a broker that was killed starts again. No other test is given them while this process lives: it takes
    seconds until a broker listens."""
    ports = []
    while len(ports) < count:
        port = random.randrange(15000, 31000)
        reservation = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            reservation.bind(f"\0holdfast-test-port-{port}")  # a name without a file, which ends with its socket
            with socket.socket() as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind(("127.0.0.1", port))
        except OSError:
            reservation.close()
            continue
        _ports.append(reservation)
        ports.append(port)
    return ports


NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def _openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def make_certificates(folder):
    """An authority, and a certificate of it for 127.0.0.1 and localhost: ca.pem, server.pem, server.key."""
    _openssl(folder, "req", "-x509", *NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-days", "30",
             "-subj", "/CN=a test authority")  # fmt: skip
    with open(os.path.join(folder, "names"), "w", encoding="utf-8") as file:
        file.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    make_certificate(folder, "server", "a test broker", "-extfile", "names")


def make_certificate(folder, name, subject, *more):
    """A certificate of the authority in that folder: name.pem, name.key."""
    _openssl(folder, "req", *NEW_KEY, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={subject}")
    _openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
             "-out", f"{name}.pem", "-days", "30", *more)  # fmt: skip


def _program(environment, name, *arguments, timeout):
    """One of the programs of the broker with this environment: its standard output."""
    return subprocess.run(
        [f"{PROGRAMS}/{name}", *map(str, arguments)], cwd=environment["HOME"], env=environment, text=True,
        stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=timeout).stdout  # fmt: skip


def _manage(url, method, path, body):
    """The answer of the management API at this URL, read as JSON; nothing if there is none."""
    token = base64.b64encode(b"guest:guest").decode()
    request = urllib.request.Request(
        f"{url}/api/{path}", json.dumps(body).encode() if method != "GET" else None, method=method,
        headers={"Authorization": f"Basic {token}", "Content-Type": "application/json"})  # fmt: skip
    with urllib.request.urlopen(request, timeout=120) as answer:
        text = answer.read()
    return json.loads(text) if text else None


class Broker:
    """One RabbitMQ, from start() to stop(). Its folder is kept if it was given, else removed at the end.

    settings: further lines of rabbitmq.conf, by key; a time in milliseconds, for example, is
    {"consumer_timeout": 5000}."""

    vhost = "/"
    quoted_vhost = "%2f"  # as it is written in URLs
    node_name = "holdfast@localhost"

    def __init__(self, folder=None, plugins=(), management=False, shovel=False, tls=False, settings=None):
        self.plugins = set(plugins)
        if management or shovel:
            self.plugins.add("rabbitmq_management")
        if shovel:
            self.plugins |= {"rabbitmq_shovel", "rabbitmq_shovel_management"}
        self.settings = dict(settings or {})
        self.keep = folder is not None
        self.folder = os.path.abspath(folder or tempfile.mkdtemp(prefix="rabbitmq-"))
        os.makedirs(self.folder, exist_ok=True)
        self.port, self.management_port, self.tls_port, self._dist, self._epmd_port = free_ports(5)
        self.host = "127.0.0.1"
        self.tls = tls
        self.ca_file = os.path.join(self.folder, "ca.pem") if tls else None
        self.process = None  # the beam itself
        self.epmd = None
        if tls:
            make_certificates(self.folder)

    @property
    def url(self):
        return f"amqp://guest:guest@{self.host}:{self.port}/"

    @property
    def vhost_url(self):
        """For clients that want the virtual host named, and for URLs of queues: vhost_url/QUEUE."""
        return self.url + self.quoted_vhost

    @property
    def tls_url(self):
        return f"amqps://guest:guest@{self.host}:{self.tls_port}/" if self.tls else None

    @property
    def management_url(self):
        return f"http://{self.host}:{self.management_port}" if "rabbitmq_management" in self.plugins else None

    def start(self):
        """Returns when it answers: on a new folder, or again on the one it had."""
        self.launch()
        self.wait_until_ready()
        return self

    def launch(self):
        """Begins to start it."""
        assert self.process is None or self.process.poll() is not None, "it runs already"
        self._write_configuration()
        if self.epmd is None:
            # Ours alone, and a child of ours: one that the broker starts by itself outlives it.
            self.epmd = subprocess.Popen(
                ["epmd", "-port", str(self._epmd_port), "-address", "127.0.0.1"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=kill_with_parent)  # fmt: skip
            self._wait_for(lambda: self._connects(self._epmd_port), "epmd", self.epmd)
        with open(os.path.join(self.folder, "console.log"), "ab") as log:
            self.process = subprocess.Popen(
                [f"{PROGRAMS}/rabbitmq-server"], cwd=self.folder, env=self.environment(),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=kill_with_parent)  # fmt: skip

    def wait_until_ready(self):
        self._wait_for(self._answers, "RabbitMQ", self.process)
        if self.management_url:
            self._wait_for(lambda: self._connects(self.management_port), "its management", self.process)

    def stop(self):
        """As an operator stops it: connections are closed properly."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self):
        """As if the power went."""
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def sync_queues(self):
        """Makes queues that were just declared survive kill(). RabbitMQ 3.10 confirms messages of a new queue before the
        queue itself is on disk: Mnesia writes its log up to 2 s late, and the names of quorum queues come later still
        (rabbitmq-server #15725). Killed in between, it comes back without the queue, or with an empty one."""
        self.ctl("eval", "ok = mnesia:sync_log(), [ok = dets:sync(Table) || Table <- dets:all()].")

    def close(self):
        """For good."""
        self.kill()
        if self.epmd:
            self.epmd.kill()
            self.epmd.wait()
            self.epmd = None
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def ctl(self, *arguments, timeout=120):
        return self.program("rabbitmqctl", "--quiet", *arguments, timeout=timeout)

    def program(self, name, *arguments, timeout=120):
        """One of the broker's own programs: its standard output."""
        return _program(self.environment(), name, *arguments, timeout=timeout)

    def manage(self, method, path, **body):
        """Asks the management API, which is quicker than ctl()."""
        return _manage(self.management_url, method, path, body)

    def addresses(self):
        """What a test needs to know, as it is handed to programs."""
        return {
            "url": self.url, "port": self.port, "management": self.management_url, "tls_url": self.tls_url,
            "ca_file": self.ca_file, "folder": self.folder, "pid": self.process and self.process.pid,
        }  # fmt: skip

    def environment(self):
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        no_busy_waiting = "+sbwt none +sbwtdcpu none +sbwtdio none"
        return keep | {
            "LC_ALL": "C.UTF-8",
            "HOME": self.folder,  # where the cookie is
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": self.node_name,
            "RABBITMQ_MNESIA_BASE": os.path.join(self.folder, "mnesia"),
            "RABBITMQ_LOG_BASE": os.path.join(self.folder, "log"),
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._dist),
            "RABBITMQ_ENABLED_PLUGINS_FILE": os.path.join(self.folder, "enabled_plugins"),
            "RABBITMQ_CONFIG_FILE": os.path.join(self.folder, "rabbitmq"),
            "RABBITMQ_CONF_ENV_FILE": os.path.join(self.folder, "no-such-file"),
            "RABBITMQ_ALLOW_INPUT": "1",  # the script becomes the beam, whose pid is then the child's
            "RABBITMQ_SERVER_START_ARGS": "-noinput",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS":
                f"+S 2:2 {no_busy_waiting} -kernel inet_dist_use_interface {{127,0,0,1}} -rabbit quorum_tick_interval 500",
        }  # fmt: skip

    def _write_configuration(self):
        settings = {
            "listeners.tcp.1": f"127.0.0.1:{self.port}",
            "log.console": "false",
            "vm_memory_high_watermark.absolute": "2GB",
            "disk_free_limit.absolute": "50MB",
        }
        if self.tls:
            settings |= {
                "listeners.ssl.1": f"127.0.0.1:{self.tls_port}",
                "ssl_options.cacertfile": self.ca_file,
                "ssl_options.certfile": os.path.join(self.folder, "server.pem"),
                "ssl_options.keyfile": os.path.join(self.folder, "server.key"),
                "ssl_options.verify": "verify_none",
            }
        if self.management_url:
            # It knows a new queue's policies when queues have told their statistics (after so many milliseconds) and it
            # has collected them (after so many seconds; 5 by default).
            settings |= {"management.tcp.ip": "127.0.0.1", "management.tcp.port": self.management_port,
                         "collect_statistics_interval": "500"}
            settings |= {f"management.sample_retention_policies.{of}.minute": "1" for of in ("global", "basic", "detailed")}
        settings |= self.settings
        with open(os.path.join(self.folder, "rabbitmq.conf"), "w", encoding="utf-8") as file:
            file.writelines(f"{key} = {value}\n" for key, value in settings.items())
        with open(os.path.join(self.folder, "enabled_plugins"), "w", encoding="utf-8") as file:
            file.write(f"[{','.join(sorted(self.plugins))}].\n")

    def _answers(self):
        """Whether it speaks AMQP: it listens only when all else is up."""
        try:
            with socket.create_connection((self.host, self.port), timeout=10) as one:
                one.sendall(b"AMQP\0\0\x09\x01")
                return one.recv(1) == b"\x01"  # connection.start, a method
        except OSError:
            return False

    def _connects(self, port):
        try:
            with socket.create_connection((self.host, port), timeout=10):
                return True
        except OSError:
            return False

    def _wait_for(self, ready, what, process):
        until = time.monotonic() + READY_WITHIN_S
        while not ready():
            ended = process.poll() is not None
            if ended or time.monotonic() > until:
                log = self.log_tail()
                self.close()
                raise RuntimeError(f"{what} {'ended' if ended else 'is not ready'}:\n{log}")
            time.sleep(0.05)

    def log_tail(self):
        text = ""
        for name in ("console.log", f"log/{self.node_name}.log"):
            try:
                with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
                    text += file.read()[-4000:]
            except OSError:
                pass
        return text

    def __enter__(self):
        return self.start() if self.process is None else self

    def __exit__(self, *_):
        self.close()


class SharedBroker:
    """A virtual host on a broker that other tests use at the same time, from start() to close(). It is used like a
    Broker, but cannot be stopped or killed. What is not part of a virtual host, such as users, needs unique names."""

    def __init__(self, told):
        self.vhost = self.quoted_vhost = f"test-{secrets.token_hex(4)}"
        self.url = self.vhost_url = told["url"] + self.vhost
        self.management_url = told["management"]
        self._environment = told["environment"]

    def start(self):
        self.manage("PUT", f"vhosts/{self.vhost}")
        self.manage("PUT", f"permissions/{self.vhost}/guest", configure=".*", write=".*", read=".*")
        return self

    def close(self):
        """Deletes the virtual host and everything in it."""
        with contextlib.suppress(OSError):  # such as a broker that is gone: nothing is left to delete
            self.manage("DELETE", f"vhosts/{self.vhost}")

    def ctl(self, *arguments, timeout=120):
        """For the whole broker: name the virtual host where it matters ("-p", broker.vhost)."""
        return _program(self._environment, "rabbitmqctl", "--quiet", *arguments, timeout=timeout)

    def manage(self, method, path, **body):
        """Asks the management API, which is quicker than ctl()."""
        return _manage(self.management_url, method, path, body)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()


def shared(management=False):
    """A broker for a test that does not disturb it: a virtual host of the broker that the tests share, or a Broker of
    its own if they share none. Not started yet."""
    told = os.environ.get(SHARED)
    return SharedBroker(json.loads(told)) if told else Broker(management=management)


# ---- the command ----


def _broker_of(options, folder=None):
    return Broker(folder=folder, management=options.management, shovel=options.shovel, tls=options.tls,
                  settings=dict(one.split("=", 1) for one in options.set))  # fmt: skip


def _keeper_of(folder):
    """The pid of the process that keeps this folder's broker, if it still is that."""
    try:
        with open(os.path.join(folder, "keeper.pid"), encoding="utf-8") as file:
            pid = int(file.read())
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode(errors="replace").split("\0")
        return pid if "keep" in words and folder in words else None
    except (OSError, ValueError):
        return None


def command_start(options):
    folder = os.path.abspath(options.folder)
    os.makedirs(folder, exist_ok=True)
    command_stop(options)  # what a run that was cut off has left
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    arguments = [sys.executable, "-B", os.path.abspath(__file__), "keep", folder]
    for name in ("management", "shovel", "tls"):
        arguments += [f"--{name}"] if getattr(options, name) else []
    for one in options.set:
        arguments += ["--set", one]
    if options.until_parent_ends:
        arguments += ["--while-alive", str(os.getppid())]
    with open(os.path.join(folder, "keeper.log"), "wb") as log:
        keeper = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  start_new_session=True)  # fmt: skip
    while not os.path.exists(os.path.join(folder, "url")):
        if keeper.poll() is not None:
            with open(os.path.join(folder, "keeper.log"), encoding="utf-8") as log:
                sys.exit(f"no broker: {log.read()}")
        time.sleep(0.05)
    return 0


def command_keep(options):
    """The process behind `start`: the broker ends with it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    with open(os.path.join(options.folder, "keeper.pid"), "w", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    with _broker_of(options, options.folder) as broker:
        with open(os.path.join(options.folder, "broker.json"), "w", encoding="utf-8") as file:
            json.dump(broker.addresses(), file)
        with open(os.path.join(options.folder, "url.new"), "w", encoding="utf-8") as file:
            file.write(broker.url)
        os.rename(file.name, os.path.join(options.folder, "url"))  # the last thing: it is ready
        while not signal.sigtimedwait({signal.SIGTERM, signal.SIGINT}, 0.5):
            if options.while_alive and not os.path.exists(f"/proc/{options.while_alive}"):
                break
            if broker.process.poll() is not None:
                break
    return 0


def command_stop(options):
    folder = os.path.abspath(options.folder)
    pid = _keeper_of(folder)
    if pid:
        os.kill(pid, signal.SIGTERM)
        while _keeper_of(folder) == pid:
            time.sleep(0.05)
    return 0


def command_run(options):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # not at once: to clean up
    special = options.shovel or options.tls or options.set
    with _broker_of(options) if special else shared(options.management) as broker:
        added = {"HOLDFAST_RABBITMQ": broker.url}
        if broker.management_url:
            added["HOLDFAST_RABBITMQ_MANAGEMENT"] = broker.management_url
        if isinstance(broker, Broker) and broker.management_url:
            added[SHARED] = json.dumps(broker.addresses() | {"environment": broker.environment()})
        return subprocess.run(options.command, env=os.environ | added, check=False).returncode


def command_hold(options):
    with _broker_of(options) as broker:
        print(json.dumps(broker.addresses()), flush=True)
        for line in sys.stdin:
            verb, *arguments = shlex.split(line)
            try:
                if verb == "ctl":
                    broker.ctl(*arguments)
                else:
                    {"kill": broker.kill, "stop": broker.stop, "start": broker.start,
                     "sync_queues": broker.sync_queues}[verb]()  # fmt: skip
                print("done", flush=True)
            except subprocess.CalledProcessError as error:
                print("failed:", " ".join((error.stderr or error.stdout).split())[:500], flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("start", "keep", "stop", "run", "hold"):
        one = verbs.add_parser(verb)
        one.set_defaults(carry_out=globals()[f"command_{verb}"])
        if verb in ("start", "keep", "stop"):
            one.add_argument("folder")
        if verb == "start":
            one.add_argument("--until-parent-ends", action="store_true")
        if verb == "keep":
            one.add_argument("--while-alive", type=int)
        if verb != "stop":
            one.add_argument("--management", action="store_true")
            one.add_argument("--shovel", action="store_true", help="and management")
            one.add_argument("--tls", action="store_true")
            one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="in rabbitmq.conf")
        if verb == "run":
            one.add_argument("command", nargs="+")
    options = parser.parse_args()
    sys.exit(options.carry_out(options))


if __name__ == "__main__":
    main()
