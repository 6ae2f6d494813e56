"""Three RabbitMQ nodes on this machine that are one cluster, for tests: private ports, cookie and folders, nothing left
behind.

    with rabbitmq_cluster.Cluster() as cluster:  # up in about 25 s
        cluster.nodes[0].url                     # of one node; each is a rabbitmq.Broker with management
        leader = cluster.leader("queue")         # the node whose member leads a quorum queue, or None
        cluster.kill(leader)                     # SIGKILL
        cluster.restart(leader)                  # returns when it has rejoined, with all of its members
        cluster.port_list()                      # for a proxy that connects to any node that lives

Its nodes end with the thread that started it, however that ends."""

import os
import secrets
import shutil
import tempfile
import time
import urllib.error

import rabbitmq

WITHIN_S = 120
# A quorum queue keeps what is new in memory until its log file is full, and every node has one.
SMALL = {"vm_memory_high_watermark.absolute": "512MB", "raft.wal_max_size_bytes": str(32 << 20)}


class Node(rabbitmq.Broker):
    """One of a cluster. It forms the cluster with `peers` when it starts on a new folder."""

    def __init__(self, name, folder, cookie, settings=None):
        super().__init__(folder=os.path.join(folder, name), management=True, settings=SMALL | (settings or {}))
        self.node_name = f"{name}@localhost"
        self._set_cookie(cookie)

    def _set_cookie(self, cookie):
        path = os.path.join(self.folder, ".erlang.cookie")
        with open(path, "w", encoding="ascii") as file:
            file.write(cookie)
        os.chmod(path, 0o400)

    def joins(self, peers, epmd):
        """`epmd`: a node that has started the one that all of them register with, or None for the one that starts it."""
        self.settings["cluster_formation.peer_discovery_backend"] = "classic_config"
        for number, peer in enumerate(peers, 1):
            self.settings[f"cluster_formation.classic_config.nodes.{number}"] = peer.node_name
        if epmd:
            self._epmd_port, self.epmd = epmd._epmd_port, epmd.epmd

    @property
    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def __str__(self):
        return self.node_name


class Cluster:
    def __init__(self, size=3, settings=None):
        self.folder = tempfile.mkdtemp(prefix="rabbitmq-cluster-")
        cookie = secrets.token_hex(16)
        self.nodes = [Node(f"n{number}", self.folder, cookie, settings) for number in range(1, size + 1)]

    def start(self):
        try:
            # The first one makes the cluster; the others find it there, and start side by side.
            first, *others = self.nodes
            first.joins(self.nodes, None)
            first.start()
            for node in others:
                node.joins(self.nodes, first)
                node.launch()
            for node in others:
                node.wait_until_ready()
            self._wait("the cluster", lambda: len(self.running()) == len(self.nodes))
        except BaseException:
            self.close()
            raise
        return self

    def close(self):
        for node in self.nodes:
            node.kill()
        for node in self.nodes:
            node.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def alive(self):
        return [node for node in self.nodes if node.is_alive]

    def port_list(self, first=()):
        """The ports of all nodes, of these nodes first."""
        return [node.port for node in sorted(self.nodes, key=lambda node: node not in first)]

    def manage(self, path):
        """What the management API of a node that lives says; None if there is no such thing, or no answer now."""
        for node in self.alive():
            try:
                return node.manage("GET", path)
            except urllib.error.HTTPError as error:
                if error.code == 404:
                    return None
            except OSError:
                continue
        return None

    def running(self):
        """Names of the nodes that are members of the cluster and run."""
        return {one["name"] for one in self.manage("nodes") or [] if one.get("running")}

    def queue(self, name, vhost="%2f"):
        return self.manage(f"queues/{vhost}/{name}") or {}

    def leader(self, queue):
        """The node that leads it; None while it has no leader that lives."""
        told = self.queue(queue).get("leader")
        return next((node for node in self.alive() if node.node_name == told), None)

    def wait_for_leader(self, queue):
        self._wait(f"a leader of {queue}", lambda: self.leader(queue))
        return self.leader(queue)

    def wait_for_members(self, *queues):
        """Until each of these quorum queues has a member on every node that lives."""
        for queue in queues:
            alive = {node.node_name for node in self.alive()}
            self._wait(f"all members of {queue}",
                       lambda queue=queue, alive=alive: alive <= set(self.queue(queue).get("online", [])))  # fmt: skip

    def kill(self, *nodes):
        """As if the power went, of all of them at once."""
        for node in nodes:
            node.process.kill()
        for node in nodes:
            node.kill()

    def restart(self, *nodes):
        """Nodes that were killed. Returns when they are running members again, and so are their members of all quorum
        queues."""
        for node in nodes:
            node.launch()
        for node in nodes:
            node.wait_until_ready()
        self._wait("the nodes to rejoin", lambda: {node.node_name for node in nodes} <= self.running())
        queues = [one["name"] for one in self.manage("queues/%2f") or [] if one.get("type") == "quorum"]
        self.wait_for_members(*queues)

    def _wait(self, what, ready):
        until = time.monotonic() + WITHIN_S
        while not ready():
            for node in self.nodes:
                if node.process is not None and node.process.poll() not in (None, -9):
                    raise RuntimeError(f"{node} has ended:\n{node.log_tail()}")
            if time.monotonic() > until:
                raise RuntimeError(f"not within {WITHIN_S} s: {what}; running: {sorted(self.running())}")
            time.sleep(0.1)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()
