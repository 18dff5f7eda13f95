"""kazoo as a contender in tests: obeys orders, one JSON object a line on stdin, and answers each on stdout with the times
at which what was ordered began and ended, by CLOCK_MONOTONIC. The protocol is described in ../godriver/protocol.go.

A contender has a thread of its own, which obeys one order after the other; contenders do not wait for each other.
"""

import json
import logging
import os
import queue
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.protocol.states import KazooState
from kazoo.recipe.counter import Counter
from kazoo.recipe.lock import Lock, ReadLock, WriteLock
from kazoo.retry import KazooRetry

clients = {}
contenders = {}
mouth = threading.Lock()


def say(**answer):
    line = json.dumps({k: v for k, v in answer.items() if v is not None})
    with mouth:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def event(name, who, at, nodes=None, error=None):
    say(event=name, who=who, ok=error is None, began=at, ended=at, nodes=nodes, error=error)


def answer(order, step):
    result = {"ok": True, "began": time.monotonic_ns()}
    try:
        step(result)
    except Exception as e:
        result.update(ok=False, error="%s: %s" % (type(e).__name__, e))
    result.setdefault("ended", time.monotonic_ns())
    say(id=order["id"], who=order.get("who"), **result)


def open_client(order, result):
    # Forever, with short pauses: waits go on through outages, as they do elsewhere.
    forever = dict(max_tries=-1, delay=0.1, backoff=1, max_delay=0.2)
    client = KazooClient(
        hosts=order["connect"],
        timeout=order["session"] / 1000,
        connection_retry=KazooRetry(**forever),
        command_retry=KazooRetry(**forever),
    )

    def listen(state):
        if state != KazooState.CONNECTED:
            event(state.lower(), order["client"], time.monotonic_ns())

    client.add_listener(listen)
    client.start(timeout=(order.get("ms") or 60_000) / 1000)
    clients[order["client"]] = (client, order.get("data"))
    result["session"] = str(client.client_id[0] % 2**64)


def close_client(order, result):
    client, _ = clients.pop(order["client"])
    client.stop()
    client.close()


class Contender:
    """A thread with a lock, or with the two of a read/write lock."""

    def __init__(self, order):
        self.who = order["who"]
        self.order = order
        self.client, data = clients[order["client"]]
        self.data = order.get("data", data)
        self.locks = {}
        self.orders = queue.Queue()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            order = self.orders.get()
            answer(order, lambda result: self.obey(order, result))

    def lock(self, order):
        side = order.get("side", "")
        if side not in self.locks:
            kind = {"": Lock, "read": ReadLock, "write": WriteLock}[side]
            patterns = self.order.get("patterns", [])
            if self.order["recipe"] == "rw":
                patterns = ["__WRIT__"] if side == "read" else ["__WRIT__", "__READ__"]
            self.locks[side] = kind(self.client, self.order["path"], self.data, extra_lock_patterns=patterns)
        return self.locks[side]

    def obey(self, order, result):
        op = order["op"]
        if op == "acquire":
            nodes = self.acquire(order)
            result.update(ok=nodes is not None, nodes=nodes, ended=time.monotonic_ns())
        elif op == "release":
            self.release(order)
        elif op == "work":
            self.work(order)

    def acquire(self, order):
        """Returns the names of the nodes, or None if the time was up."""
        lock, ms = self.lock(order), order["ms"]
        try:
            if ms < 0:
                got = lock.acquire()
            elif ms == 0:
                got = lock.acquire(blocking=False)
            else:
                got = lock.acquire(timeout=ms / 1000)
        except LockTimeout:
            got = False
        return [lock.node] if got else None

    def release(self, order):
        # A lock that was used once is not used again: it would look for its node under the same name.
        self.locks.pop(order.get("side", "")).release()

    def work(self, order):
        for _ in range(order["times"]):
            try:
                nodes = self.acquire(order)
                if nodes is None:
                    event("missed", self.who, time.monotonic_ns())
                    continue
                event("acquired", self.who, time.monotonic_ns(), nodes)
                time.sleep(order.get("hold", 0) / 1e6)
                event("released", self.who, time.monotonic_ns(), nodes)
                self.release(order)
            except Exception as e:
                event("failed", self.who, time.monotonic_ns(), None, repr(e))
                self.locks.clear()
                time.sleep(0.2)
            time.sleep(order.get("pause", 0) / 1e6)


class Number(Contender):
    """A counter, in Curator's bytes."""

    def __init__(self, order):
        super().__init__(order)
        self.counter = Counter(self.client, order["path"], support_curator=True)

    def obey(self, order, result):
        if order["op"] == "add":
            self.counter += order["value"]
            result["value"] = self.counter.post_value
        else:
            result["value"] = self.counter.value


def hire(order, result):
    kind = Number if order["recipe"] == "atomicinteger" else Contender
    contenders[order["who"]] = kind(order)


def main():
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    for line in sys.stdin:
        order = json.loads(line)
        op = order["op"]
        if op == "crash":
            os._exit(137)
        elif op == "contender":
            answer(order, lambda result: hire(order, result))
        elif op in ("open", "close"):
            step = open_client if op == "open" else close_client
            threading.Thread(target=answer, args=(order, lambda result, o=order, s=step: s(o, result)), daemon=True).start()
        else:
            contenders[order["who"]].orders.put(order)


main()
