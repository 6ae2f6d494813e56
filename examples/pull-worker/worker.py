#!/usr/bin/env python3
"""A worker in Python that pulls its tasks from a Holdfast server. Nothing but the standard library.

    HOLDFAST_SERVER=http://127.0.0.1:8080 HOLDFAST_QUEUE=texts ./worker.py

README.md beside it says why each step is there. To make it yours, replace work()."""

import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

URL = os.environ.get("HOLDFAST_SERVER", "http://127.0.0.1:8080")
QUEUE = os.environ.get("HOLDFAST_QUEUE", "default")
LEASE = float(os.environ.get("HOLDFAST_LEASE", "30"))  # seconds until others may have what we leave behind
HEADERS = {"Content-Type": "application/json"}
if token := os.environ.get("HOLDFAST_API_TOKEN"):
    HEADERS["Authorization"] = "Bearer " + token
stopping = threading.Event()


class Hopeless(Exception):
    """Raised by work(): trying again cannot help."""


def work(task, lost):
    """Counts words. Returns the result; raises what went wrong. `lost` is set if somebody else has
    the task by now: long work looks at it now and then, and ends."""
    if "text" not in (task.get("payload") or {}):
        raise Hopeless('the payload has no "text"')
    return {"words": len(task["payload"]["text"].split())}


def post(path, body):
    """Status and answer. While the server is away it is asked again, with growing waits."""
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), HEADERS)
    wait = 0.5
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            code = getattr(error, "code", 500)  # none: nobody answered, or the answer was cut off
            if code < 500 and code != 429:
                return code, {"detail": error.read().decode()}
            print(f"{URL}: {error}; again in {wait:g} s", file=sys.stderr, flush=True)
        if path != "/v1/claims":
            time.sleep(wait)
        elif stopping.wait(wait):
            sys.exit()
        wait = min(wait * 2, 30)


def keep(task, done, lost):
    """Extends the lease for as long as the work goes on."""
    while not done.wait(LEASE / 3):
        status, _ = post(f"/v1/claims/{task['id']}/extend", {"token": task["token"], "lease": LEASE})
        if status != 200:
            return lost.set()


def run(task):
    def tell(how, said):
        return post(f"/v1/claims/{task['id']}/{how}", {"token": task["token"], **said})

    done, lost = threading.Event(), threading.Event()
    threading.Thread(target=keep, args=(task, done, lost), daemon=True).start()
    try:
        how, said = "complete", {"result": json.loads(json.dumps(work(task, lost)))}  # or it is no JSON
    except Hopeless as error:
        how, said = "fail", {"message": str(error), "http_status": 422}  # "unprocessable": given up
    except Exception as error:  # whatever it is, the server is told, and knows what to do
        how, said = "fail", {"message": f"{type(error).__name__}: {error}"}
    status, answer = tell(how, said)
    if status not in (200, 404, 409):  # refused, and still ours: what is too large will be so again
        status, answer = tell("fail", {"message": answer["detail"], "http_status": 422})
    done.set()
    # 409: our lease had ended, and the task is somebody else's by now.
    print(task["id"], answer["state"] if status == 200 else f"not settled: {status}", flush=True)


def main():
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    name = f"{socket.gethostname()}-{os.getpid()}"
    # A poll that is under way is waited for: a claim that we ran away from would count as a crash.
    while not stopping.is_set():
        status, answer = post("/v1/claims", {"queue": QUEUE, "wait": "5s", "lease": LEASE, "worker": name})
        if status != 200:
            sys.exit(f"{URL}: {status} {answer['detail']}")
        for task in answer["claims"]:
            run(task)


if __name__ == "__main__":
    main()
