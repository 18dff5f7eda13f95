"""Takes locks with kazoo. The protocol, and what is written down, are described in ../job/job.go."""

import json
import logging
import sys
import threading
import time

from kazoo.client import KazooClient

logging.basicConfig(level=logging.ERROR)
STAMPED = 5
window = None


def say(**line):
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def connect(job):
    client = KazooClient(hosts=job["server"], timeout=job["session"] / 1e9)
    client.start(timeout=60)
    return client


def sides(client, job, path):
    """The two sides of a lock: who reads, and who writes. Most locks have but one. Each thread has a lock of its own: those
    of kazoo would exclude threads by themselves."""
    kind = job["lock"]
    if kind == "mutex":
        return (client.Lock(path),) * 2
    if kind == "semaphore":
        return (client.Semaphore(path, max_leases=job["limit"]),) * 2
    if kind == "read":
        return (client.ReadLock(path),) * 2
    if kind == "write":
        return (client.WriteLock(path),) * 2
    return client.ReadLock(path), client.WriteLock(path)


def over():
    return window is not None and time.monotonic_ns() >= window["end"]


class Worker(threading.Thread):
    """Takes its lock again and again, until the window has passed."""

    def __init__(self, job, number, locks):
        super().__init__(daemon=True)
        self.job = job
        self.locks = locks
        self.did = {"number": number, "acquired": 0, "errors": 0, "stamps": [], "full": 0}

    def run(self):
        now, number = time.monotonic_ns, self.did["number"]
        hold = self.job["hold"] / 1e9
        n = -1
        while not over():
            n += 1
            writes = int((n + 7 * number) % 20 == 0)
            lock = self.locks[writes]
            called = now()
            while True:
                try:
                    if lock.acquire():
                        break
                except Exception as e:
                    self.failed(e)
                time.sleep(0.001)
                if over():
                    return
            acquired = now()
            if hold:
                time.sleep(hold)
            releasing = now()
            try:
                lock.release()
            except Exception as e:
                self.failed(e)
            self.note(called, acquired, releasing, now(), writes)

    def failed(self, e):
        if window is not None:
            self.did["errors"] += 1
            self.did.setdefault("error", "%s: %s" % (type(e).__name__, e))

    def note(self, called, acquired, releasing, released, writes):
        w = window
        if w is None or acquired < w["start"] or called >= w["end"]:
            return
        did, start = self.did, w["start"]
        if acquired < w["end"]:
            did["acquired"] += 1
        if len(did["stamps"]) >= STAMPED * self.job["record"]:
            did["full"] = did["full"] or acquired - start
            return
        did["stamps"] += (called - start, acquired - start, releasing - start, released - start, writes)


def main():
    global window
    job = json.loads(sys.stdin.readline())
    clients, workers = [], []
    for i in range(job["workers"]):
        if i == 0 or job["clients"]:
            clients.append(connect(job))
        number = job["first"] + i
        path = "%s/%d" % (job["path"], number) if job["own"] else job["path"]
        workers.append(Worker(job, number, sides(clients[-1], job, path)))
    for worker in workers:
        worker.start()
    time.sleep(job["warmup"] / 1e9)
    say(ready=True)
    window = json.loads(sys.stdin.readline())
    late = time.monotonic_ns() >= window["start"]
    for worker in workers:
        worker.join()
    say(late=late, workers=[worker.did for worker in workers])
    sys.stdin.read()  # the times of the process are read until its input ends
    for client in clients:
        client.stop()


main()
