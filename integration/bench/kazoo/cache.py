"""Fills kazoo's TreeCache and listens to it. The protocol is described in ../job/cache.go."""

import json
import logging
import os
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.cache import TreeCache, TreeEvent

logging.basicConfig(level=logging.ERROR)
PATIENCE = 180


def say(**line):
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def resident():
    """The memory of the process that is in use. What was freed does not go back to the system, or not all of it."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Follower:
    """One cache with a client of its own."""

    def __init__(self, job):
        self.client = KazooClient(hosts=job["server"], timeout=job["session"] / 1e9)
        self.client.start(timeout=60)
        self.cache = TreeCache(self.client, job["path"])
        self.cache.listen(self.listen)
        self.full = threading.Event()
        self.full_at = 0
        self.news = threading.Condition()
        self.stamps = []
        self.heard = []

    def listen(self, event):
        now = time.monotonic_ns()
        if event.event_type == TreeEvent.INITIALIZED:
            self.full_at = now
            self.full.set()
        elif event.event_type == TreeEvent.NODE_UPDATED:
            with self.news:
                self.stamps.append(int(event.event_data.data))
                self.heard.append(now)
                self.news.notify()

    def fill(self):
        """Returns how long it took until the cache was full."""
        begun = time.monotonic_ns()
        self.cache.start()
        if not self.full.wait(PATIENCE):
            raise RuntimeError("not full")
        return self.full_at - begun

    def wait(self, last):
        with self.news:
            if not self.news.wait_for(lambda: self.stamps and self.stamps[-1] == last, PATIENCE):
                raise RuntimeError("no event of the last change")

    def count(self, path):
        """How many nodes the cache has at and below a path."""
        children = self.cache.get_children(path)
        if children is None:
            return 0
        return 1 + sum(self.count(path + "/" + child) for child in children)

    def close(self):
        self.cache.close()
        self.client.stop()
        self.client.close()


def main():
    job = json.loads(sys.stdin.readline())
    took, memory, follower = [], None, None
    for _ in range(job["fills"]):
        if follower is not None:
            follower.close()
        before = resident()
        follower = Follower(job)
        took.append(follower.fill())
        if memory is None:
            memory = resident() - before
    say(took=took, memory=memory, nodes=follower.count(job["path"]))
    end = json.loads(sys.stdin.readline())
    follower.wait(end["last"])
    with follower.news:
        say(stamps=follower.stamps, heard=follower.heard)
    follower.close()


main()
