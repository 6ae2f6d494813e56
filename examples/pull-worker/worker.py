#!/usr/bin/env python3
"""A worker in Python that pulls its tasks from a Holdfast server. Nothing but the standard library.

    HOLDFAST_URL=http://127.0.0.1:8080 HOLDFAST_QUEUE=texts ./worker.py

README.md beside it says why each step is there. To make it yours, replace work()."""

import http.client
import json
import os
import signal
import socket
import sys
import threading
import urllib.error
import urllib.request

URL = os.environ.get("HOLDFAST_URL", "http://127.0.0.1:8080")
QUEUE = os.environ.get("HOLDFAST_QUEUE", "default")
LEASE = float(os.environ.get("HOLDFAST_LEASE", "30"))  # seconds until others may have what we leave behind
HEADERS = {"Content-Type": "application/json"}
if "HOLDFAST_API_TOKEN" in os.environ:
    HEADERS["Authorization"] = "Bearer " + os.environ["HOLDFAST_API_TOKEN"]


class Hopeless(Exception):
    """Raised by work(): trying again cannot help."""


class Refused(Exception):
    """The server understood, and says no."""


def work(task, lost):
    """Counts words. Returns the result; raises what went wrong. `lost` is set if somebody else has
    the task by now: long work looks at it now and then, and ends."""
    if "text" not in (task.get("payload") or {}):
        raise Hopeless('the payload has no "text"')
    return {"words": len(task["payload"]["text"].split())}


def post(path, body):
    """One call. OSError: another try may help. Refused: none will."""
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), HEADERS)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        if error.code == 429 or error.code >= 500:
            raise
        raise Refused(f"{path}: {error.code} {error.read().decode()}") from None
    except (http.client.HTTPException, ValueError) as error:  # the answer was cut off
        raise OSError(str(error)) from error


def insist(path, body, stopped):
    """The same until there is an answer, however long the server is away; None: stopped meanwhile."""
    wait = 0.5
    while not stopped.is_set():
        try:
            return post(path, body)
        except OSError as error:
            print(f"{URL}: {error}; again in {wait:g} s", file=sys.stderr, flush=True)
            stopped.wait(wait)
            wait = min(wait * 2, 30)


def keep(claim, token, done, lost):
    """Extends the lease for as long as the work goes on."""
    while not done.wait(LEASE / 3):
        try:
            post(claim + "/extend", {"token": token, "lease": LEASE})
        except Refused:
            return lost.set()
        except OSError:
            pass  # the lease is three times as long as the pause: the next one may get through


def run(task, never=threading.Event()):
    claim, token = f"/v1/claims/{task['id']}", task["token"]
    done, lost = threading.Event(), threading.Event()
    threading.Thread(target=keep, args=(claim, token, done, lost), daemon=True).start()
    try:
        how, said = "complete", {"result": work(task, lost)}
    except Hopeless as error:
        how, said = "fail", {"message": str(error), "http_status": 422}  # "unprocessable": given up
    except Exception as error:  # whatever it is, the server is told, and knows what to do
        how, said = "fail", {"message": f"{type(error).__name__}: {error}"}
    try:
        state = insist(f"{claim}/{how}", {"token": token, **said}, never)["state"]
    except Refused as error:  # 409: our lease had ended, and the task is not ours any more
        state = f"not settled: {error}"
    done.set()
    print(f"{task['id']} attempt {task['attempt']}: {state}", flush=True)


def main():
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    # A poll that is under way is waited for: a claim that we ran away from would count as a crash.
    poll = {"queue": QUEUE, "wait": "5s", "lease": LEASE, "worker": f"{socket.gethostname()}-{os.getpid()}"}
    while not stopping.is_set():
        for task in (insist("/v1/claims", poll, stopping) or {"claims": []})["claims"]:
            run(task)


if __name__ == "__main__":
    try:
        main()
    except Refused as error:
        sys.exit(str(error))
