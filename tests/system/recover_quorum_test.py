#!/usr/bin/env python3
"""P5, P6: what `holdfast recover` knows, refuses and reports, above all of queues that destroy what is returned too
often, against a real RabbitMQ.

Usage: recover_quorum_test.py HOLDFAST"""

import contextlib
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))

import pika  # noqa: E402
import rabbitmq  # noqa: E402
import tcp_proxy  # noqa: E402
from dead_letters import Letters, wait_until  # noqa: E402

HOLDFAST = os.path.abspath(sys.argv[1])
LIMIT = "x-delivery-limit"
QUORUM = {"x-queue-type": "quorum"}


@contextlib.contextmanager
def api(answer):
    """The URL of a management API that has this answer to everything."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


class QuorumTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.broker = rabbitmq.shared(management=True)
        cls.addClassCleanup(cls.broker.close)
        cls.broker.start()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="holdfast-recover-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.letters = Letters(self.broker, self.id().split(".")[-1])
        self.addCleanup(lambda: self.letters.close())
        self.target = f"{self.letters.name}.target"

    def run_recover(self, *arguments, url=None, management=True, **more):
        return subprocess.run(
            [HOLDFAST, "recover", "--from", url or self.letters.url, "--idle", "3s",
             *([] if "--empty" in arguments else ["--empty", "300ms"]),
             *(["--management", self.broker.management_url] if management else []), *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **more)  # fmt: skip

    def recover(self, *arguments, code=0, **more):
        done = self.run_recover(*arguments, "--json", **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def refused(self, text, *arguments, code=1, **more):
        began = time.monotonic()
        done = self.run_recover(*arguments, **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(text, done.stderr)
        return time.monotonic() - began

    def fill(self, count, arguments):
        self.letters.declare(self.target, dlq_arguments=arguments)
        return self.letters.die(count)

    def returns(self):
        """How often each message was returned; this look is one more return, so it takes them out."""
        found = [properties.headers.get("x-delivery-count") for properties, _ in self.letters.take(self.letters.dlq)]
        return [count or 0 for count in found]

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    # P5
    def test_limits_that_are_too_low_are_refused_and_nothing_is_taken(self):
        for limit in (0, 1):
            with self.subTest(limit):
                self.letters.name = f"low{limit}"
                self.letters.dlq, self.letters.work = f"low{limit}.dlq", f"low{limit}.work"
                self.fill(5, QUORUM | {LIMIT: limit})
                self.refused(f"delivery limit of {limit}", "--to", self.target)
                self.refused(f"delivery limit of {limit}", "--to", self.target, "--dry-run")
                self.assertEqual(self.returns(), [0] * 5)

    # P5
    def test_a_dry_run_refuses_where_it_could_lose_messages(self):
        self.fill(5, QUORUM | {LIMIT: 2})
        self.refused("dry run could have messages destroyed", "--to", self.target, "--dry-run")
        self.assertEqual(self.returns(), [0] * 5)

    # P5
    def test_a_dry_run_may_be_repeated_for_ever(self):
        ids = self.fill(12, QUORUM | {LIMIT: 3})
        for _ in range(8):
            summary = self.recover("--to", self.target, "--dry-run")
            self.assertEqual((summary["would_recover"], summary["still_in_queue"]), (12, 12), summary)
        self.assertEqual(sorted(self.letters.ids(self.letters.dlq)), sorted(ids))

    # P5
    def test_what_is_kept_may_be_kept_for_ever(self):
        ids = self.fill(6, QUORUM | {LIMIT: 2})
        path = self.file("map.toml", f'[map]\nother = "{self.target}"\n')
        for _ in range(6):
            summary = self.recover("--map", path, code=3)
            self.assertEqual((summary["skipped"]["total"], summary["still_in_queue"]), (6, 6), summary)
        self.assertEqual(sorted(self.letters.ids(self.letters.dlq)), sorted(ids))

    def start(self, *arguments, url=None):
        run = subprocess.Popen([HOLDFAST, "recover", "--from", url or self.letters.url, "--json", "--management",
                                self.broker.management_url, *arguments],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(lambda: run.poll() is None and run.kill())
        return run

    # P5: what a run has renewed is returned like any other message.
    def test_lost_connections_do_not_end_what_is_kept(self):
        for dry, limit in ((False, 2), (True, 3)):
            with self.subTest(dry=dry):
                self.letters.dlq, self.letters.work = f"lost{limit}.dlq", f"lost{limit}.work"
                ids = self.fill(5, QUORUM | {LIMIT: limit})
                path = self.file("map.toml", f'[map]\nother = "{self.target}"\n')
                with tcp_proxy.Proxy(self._port()) as proxy:
                    url = self.letters.url.replace(f":{self._port()}/", f":{proxy.port}/")
                    run = self.start("--map", path, "--idle", "4s", "--empty", "4s", *(["--dry-run"] if dry else []), url=url)
                    for _ in range(limit + 3):
                        # All five are held when the queue has nothing ready.
                        wait_until(lambda: self.letters.count(self.letters.dlq) == 0 or run.poll() is not None)
                        time.sleep(0.3)
                        proxy.cut_all()
                        time.sleep(0.2)
                    out, err = run.communicate(timeout=120)
                self.assertEqual(json.loads(out)["vanished"], 0, out + err)
                self.assertEqual(sorted(self.letters.ids(self.letters.dlq)), sorted(ids), out + err)

    def _port(self):
        return pika.URLParameters(self.broker.url).port

    # P5, P6: a terminal that goes away, and a pager that was left.
    def test_hangups_and_closed_pipes_end_it_cleanly(self):
        ids = self.fill(40, QUORUM | {LIMIT: 5})
        run = self.start("--to", self.target, "--rate", "5/s")
        wait_until(lambda: self.letters.count(self.target) > 0)
        run.send_signal(signal.SIGHUP)
        out, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, json.loads(out)["ended"]), (3, "asked"), err)
        before = self.letters.count(self.target)
        run = self.start("--to", self.target, "--rate", "5/s")
        run.stderr.close()
        run.stdout.close()
        wait_until(lambda: self.letters.count(self.target) > before)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(timeout=60), 1)  # nobody to tell it to
        self.assertEqual(set(self.letters.ledger(self.letters.dlq, self.target)), set(ids))

    # P5: the API of another broker.
    def test_the_broker_itself_is_believed_first(self):
        for limit, answer, text in ((5, {"type": "classic", "arguments": {}, "effective_policy_definition": {}}, "of another type"),
                                    (1, {"type": "quorum", "arguments": {}, "effective_policy_definition": {}}, "limit of 1")):
            with self.subTest(text), api(answer) as url:
                self.letters.dlq, self.letters.work = f"api{limit}.dlq", f"api{limit}.work"
                self.letters.declare(self.target, dlq_arguments=QUORUM | {LIMIT: limit})
                self.letters.publish("m", key=self.letters.dlq)
                wait_until(lambda: self.letters.count(self.letters.dlq) > 0)
                self.refused(text, "--to", self.target, "--management", url, management=False)

    def test_the_password_of_the_api_is_not_printed(self):
        self.fill(1, QUORUM)
        for url in ("http://adm:SECRET@127.0.0.1:1", "adm:SECRET@127.0.0.1:1", "http://127.0.0.1:1/?x=SECRET"):
            done = self.run_recover("--to", self.target, "--management", url, "--json", management=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertNotIn("SECRET", done.stdout + done.stderr)

    # V3, P6
    def test_what_a_killed_run_has_parked_is_known_to_the_next(self):
        ids = self.fill(30, {})
        review = f"{self.letters.name}.review"
        self.letters.channel.queue_declare(review, durable=True)
        journal = os.path.join(self.folder, "journal.jsonl")
        with tcp_proxy.Proxy(self._port()) as proxy:
            proxy.swallows = ("client", tcp_proxy.ACK)
            url = self.letters.url.replace(f":{self._port()}/", f":{proxy.port}/")
            run = self.start("--park", review, "--journal", journal, url=url)
            wait_until(lambda: self.letters.count(review) == 30)
            wait_until(lambda: open(journal, encoding="utf-8").read().count('"parked"') == 30)
            run.kill()
            run.communicate()
            proxy.swallows = None
            wait_until(lambda: self.letters.count(self.letters.dlq) == 30)
            summary = self.recover("--park", review, "--journal", journal, url=url)
        self.assertEqual((summary["recognised"], summary["parked"]), (30, 0), summary)
        self.assertEqual(sorted(self.letters.ids(review)), sorted(ids))

    # P5
    def test_a_user_who_may_not_renew_takes_nothing(self):
        self.fill(3, QUORUM | {LIMIT: 2})
        url = self.user("^work$")
        self.refused("cannot be published to the default exchange", "--to", self.target, url=url)
        self.assertEqual(self.returns(), [0] * 3)

    def user(self, write=".*", read=".*"):
        """The URL of the queue for a new user with these permissions."""
        name = f"u{os.getpid()}{self.id()[-20:]}"
        self.broker.manage("PUT", f"users/{name}", password="secret", tags="management")
        self.addCleanup(self.broker.manage, "DELETE", f"users/{name}")
        self.broker.manage("PUT", f"permissions/{self.broker.quoted_vhost}/{name}", configure=".*", write=write, read=read)
        bare = self.letters.url.replace("guest:guest@", "")
        return bare.replace("amqp://", f"amqp://{name}:secret@")

    def test_a_policy_lowers_the_limit(self):
        self.fill(3, QUORUM | {LIMIT: 20})
        vhost = self.broker.quoted_vhost
        self.broker.manage("PUT", f"policies/{vhost}/low", pattern=f"^{self.letters.dlq}$",
                           definition={"delivery-limit": 1}, **{"apply-to": "queues"})  # fmt: skip
        self.addCleanup(self.broker.manage, "DELETE", f"policies/{vhost}/low")
        # A queue shows a new policy after an interval of the broker.
        wait_until(lambda: self.broker.manage("GET", f"queues/{vhost}/{self.letters.dlq}").get("policy") == "low")
        self.refused("delivery limit of 1", "--to", self.target)

    def test_a_limit_that_nobody_knows_is_asked_for(self):
        self.fill(3, QUORUM)
        self.refused("--delivery-limit N", "--to", self.target, "--management", "http://127.0.0.1:1", management=False)
        self.refused("delivery limit of 1", "--to", self.target, "--delivery-limit", "1", management=False)
        self.refused("a delivery limit is a whole number", "--to", self.target, "--delivery-limit", "x", code=2)
        self.assertEqual(self.recover("--to", self.target, "--delivery-limit", "none", management=False)["recovered"]["total"], 3)

    def test_a_classic_queue_needs_no_management_api(self):
        self.fill(3, {"x-max-length": 1000, "x-message-ttl": 3600000, "x-dead-letter-exchange": "amq.direct"})
        self.assertEqual(self.recover("--to", self.target, management=False)["recovered"]["total"], 3)

    def test_a_stream_is_refused(self):
        self.letters.declare(self.target)
        self.letters.channel.queue_declare("a.stream", durable=True, arguments={"x-queue-type": "stream"})
        self.refused("is a stream", "--to", self.target, url=f"{self.broker.vhost_url}/a.stream")

    def test_what_the_broker_refuses_is_said_at_once(self):
        self.fill(1, {})
        self.letters.channel.basic_consume(self.letters.dlq, lambda *_: None, exclusive=True)
        self.assertLess(self.refused("exclusive", "--to", self.target), 25)
        self.letters.connect()
        self.assertLess(self.refused("ACCESS_REFUSED", "--to", self.target, url=self.user(read="^$")), 25)

    # P6
    def test_the_count_at_the_end_is_what_is_there(self):
        self.fill(400, QUORUM | {LIMIT: 20})
        summary = self.recover("--to", self.target, "--dry-run", "--limit", "100")
        self.assertEqual(summary["still_in_queue"], 400, summary)
        summary = self.recover("--to", self.target, "--rate", "50/s", "--total", "1500ms", code=3)
        self.assertEqual(summary["still_in_queue"] + summary["recovered"]["total"], 400, summary)
        self.assertEqual(self.letters.count(self.letters.dlq), summary["still_in_queue"])

    # P6
    def test_what_others_take_is_missed_and_what_comes_is_counted(self):
        self.fill(40, {})
        run = subprocess.Popen([HOLDFAST, "recover", "--from", self.letters.url, "--to", self.target, "--json",
                                "--rate", "10/s", "--window", "1", "--empty", "300ms"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        wait_until(lambda: self.letters.count(self.target) > 2)
        for _ in range(5):
            self.letters.channel.basic_get(self.letters.dlq, auto_ack=True)
        out, err = run.communicate(timeout=60)
        summary = json.loads(out)
        self.assertEqual((run.returncode, summary["vanished"]), (3, 5), err)
        self.letters.die(2, prefix="n")
        self.assertEqual(self.recover("--to", self.target, management=False)["found"], 2)

    def test_a_dry_run_counts_what_would_fail(self):
        self.letters.declare(self.target)
        self.letters.channel.exchange_declare("there", "direct")
        path = self.file("map.toml", f'[map]\nA = "{self.target}"\nB = "nowhere"\n'
                         'C = { exchange = "there", routing_key = "k" }\nD = { exchange = "gone", routing_key = "k" }\n')
        for name in "ABCD":
            self.letters.publish(name, headers={"MessageType": name})
        self.letters.reject_all(4)
        done = self.run_recover("--map", path, "--dry-run")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("2  would be recovered", done.stdout)
        self.assertIn("2  would fail: there is no such target", done.stdout)
        self.assertIn("gone/k (no such exchange!)", done.stdout)
        self.assertIn("nowhere (no such queue!)", done.stdout)

    def test_the_queue_itself_is_no_target(self):
        self.fill(1, {})
        self.refused("is the dead-letter queue itself", "--to", self.letters.dlq, code=2)
        self.refused("is the dead-letter queue itself", "--to", self.target, "--park", self.letters.dlq, code=2)

    def test_a_file_that_is_not_a_journal_is_left_alone(self):
        self.fill(1, {})
        for text in ("precious\nlines\n", "precious", '{"a": 1}\n', "\n"):
            path = self.file("notes.txt", text)
            self.refused("not a journal", "--to", self.target, "--journal", path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), text)
        path = self.file("empty", "")
        self.recover("--to", self.target, "--journal", path)
        self.letters.die(1, prefix="again")
        self.recover("--to", self.target, "--journal", path)

    def test_an_empty_queue_is_reported_at_once(self):
        self.letters.declare(self.target)
        began = time.monotonic()
        done = self.run_recover("--to", self.target, "--empty", "60s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.monotonic() - began, 30)
        self.assertIn("Found 0 messages in DLQ.", done.stderr)

    def test_all_can_be_moved_to_look_at_them(self):
        ids = self.fill(5, QUORUM | {LIMIT: 2})
        review = f"{self.letters.name}.review"
        self.letters.channel.queue_declare(review, durable=True)
        summary = self.recover("--park", review)
        self.assertEqual((summary["parked"], summary["still_in_queue"]), (5, 0))
        found = self.letters.look(review)
        self.assertEqual([properties.message_id for properties, _ in found], ids)
        self.assertIn("x-death", found[0][0].headers)

    def test_copies_expire_as_their_originals_if_that_is_asked_for(self):
        self.letters.declare(self.target)
        self.letters.publish("a", expiration="7200000")
        self.letters.reject_all(1)
        self.recover("--to", self.target)
        [(properties, _)] = self.letters.take(self.target)
        self.assertIsNone(properties.expiration)
        self.assertEqual(properties.headers["x-holdfast-expiration"], "7200000")
        self.letters.publish("b", expiration="7200000")
        self.letters.reject_all(1)
        self.recover("--to", self.target, "--keep-expiration")
        [(properties, _)] = self.letters.take(self.target)
        self.assertEqual(properties.expiration, "7200000")

    def test_filters_know_large_numbers_and_decimals(self):
        self.letters.declare(self.target)
        big = (1 << 53) + 1
        self.letters.publish("big", headers={"n": big})
        self.letters.publish("price", headers={"d": __import__("decimal").Decimal("12.50")})
        self.letters.publish("other", headers={"n": 1})
        self.letters.reject_all(3)
        self.assertEqual(self.recover("--to", self.target, "--filter", f"header.n>{big - 1}", "--limit", "1")["recovered"]["total"], 1)
        both = "header.d=12.50 or (header.n=~^[0-9]$ and not header.n>1)"
        self.assertEqual(self.recover("--to", self.target, "--filter", both)["recovered"]["total"], 2)

    def test_usage_is_explained(self):
        self.refused("leave --limit out", "--to", "x", "--limit", "0", code=2)
        self.refused("stands in quotes", "--to", "x", "--filter", "type=A || type=B", code=2)

    # P4: 60 messages of 5 MB, in a process that may take 64 MB for them, and the largest message.
    def test_P4_large_messages_do_not_fill_the_memory(self):
        self.letters.declare(self.target)
        body = os.urandom(5_000_000)
        self.letters.die_many(60, body=body)
        run = subprocess.Popen([HOLDFAST, "recover", "--from", self.letters.url, "--to", self.target, "--json",
                                "--empty", "300ms"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)  # fmt: skip
        peak = 0
        while run.poll() is None:
            # It may end meanwhile; then its memory is gone, and cannot be read.
            with contextlib.suppress(ProcessLookupError), \
                    open(f"/proc/{run.pid}/smaps_rollup", encoding="utf-8", errors="replace") as file:  # fmt: skip
                peak = max([peak] + [int(line.split()[1]) for line in file if line.startswith("Rss:")])
            time.sleep(0.05)
        summary = json.loads(run.communicate()[0])
        self.assertEqual(summary["recovered"]["total"], 60)
        # Sanitizers keep what is freed for a while: the figure is asserted of the release, by bench/recover.py.
        print(f"  at most {peak >> 10} MiB", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
