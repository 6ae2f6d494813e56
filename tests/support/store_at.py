"""Where the servers of a system test keep their tasks: in a file of their folder, or, with
HOLDFAST_TEST_STORE=redis, on a redis-server that is started for the test run and keeps everything
(appendonly yes, appendfsync always). Each folder has a space of its own there, as it has a file of its own.

A test that is about the file itself says so with @about_the_file: its locks, what stands beside it, who owns
it. Everything else holds on both."""

import atexit
import os
import unittest

ON_REDIS = os.environ.get("HOLDFAST_TEST_STORE") == "redis"

about_the_file = unittest.skipIf(ON_REDIS, "this is about the file of an embedded store")

_redis = None


def redis():
    """The server of this test run. Called by the main thread first, with which it ends."""
    global _redis
    if _redis is None:
        import redis_server  # most runs need none

        _redis = redis_server.RedisServer(appendfsync="always").start()
        atexit.register(_redis.stop)
    return _redis


def url_of(folder, file="holdfast.db"):
    """For a program whose current folder is this one."""
    if not ON_REDIS:
        return f"sqlite:{file}"
    return f"{redis().url}?space={os.path.basename(folder)}"


def configured(folder, config):
    """A configuration whose store is that of its folder, whatever it says of one, unless it is a secret."""
    if not ON_REDIS or 'url = "env:' in config:
        return config
    lines = [line for line in config.split("\n") if not line.startswith(("url ", "url="))]
    text = "\n".join(lines)
    url = f'url = "{url_of(folder)}"\n'
    if "[store]\n" in text:
        return text.replace("[store]\n", "[store]\n" + url, 1)
    return f"[store]\n{url}{text}"
