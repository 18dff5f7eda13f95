"""Has kazoo do its work on a server, and checks what comes of it. Prints a line for each thing."""

import queue
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NoAuthError, NodeExistsError, RolledBackError
from kazoo.protocol.states import EventType, KazooState
from kazoo.security import make_digest_acl

address = sys.argv[1]


def connect(**options):
    client = KazooClient(hosts=address, timeout=30, **options)
    client.start(timeout=120)
    return client


def check(ok, *what):
    if not ok:
        raise AssertionError(what)


def together(n, task):
    """Runs task(client) in n threads, each with a client of its own."""
    failed = []

    def run():
        client = connect()
        try:
            task(client)
        except BaseException as e:
            failed.append(e)
            raise
        finally:
            client.stop()
            client.close()

    threads = [threading.Thread(target=run, daemon=True) for _ in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(600)
        check(not t.is_alive(), "stuck")
    check(not failed, failed)


def operations():
    client = connect()
    check(client.server_version()[:2] >= (3, 8), client.server_version())
    check(client.command(b"ruok") == "imok")
    path, stat = client.create("/ops", b"one", include_data=True)
    check(path == "/ops" and stat.data_length == 3, stat)
    try:
        client.create("/ops")
        check(False, "created twice")
    except NodeExistsError:
        pass
    check(client.set("/ops", b"two", version=0).version == 1)
    try:
        client.set("/ops", b"three", version=0)
        check(False, "a wrong version was taken")
    except BadVersionError:
        pass
    check(client.create("/ops/s-", sequence=True) == "/ops/s-0000000000")
    check(client.create("/ops/e", ephemeral=True, makepath=True) == "/ops/e")
    children, stat = client.get_children("/ops", include_data=True)
    check(sorted(children) == ["e", "s-0000000000"] and stat.children_count == 2, children, stat)
    check(client.exists("/ops/e").ephemeralOwner == client.client_id[0])
    client.sync("/ops")
    client.delete("/ops", recursive=True)
    check(client.exists("/ops") is None)
    client.stop()
    client.close()


def transactions():
    client = connect()
    t = client.transaction()
    t.create("/t", b"x")
    t.create("/t/a-", sequence=True, ephemeral=True)
    t.set_data("/t", b"y")
    t.check("/t", 1)
    t.delete("/t/a-0000000000")
    results = t.commit()
    check(results[0] == "/t" and results[1] == "/t/a-0000000000" and results[2].version == 1 and results[3:] == [True, True], results)
    t = client.transaction()
    t.create("/t/b")
    t.check("/t", 7)
    t.create("/t/c")
    results = t.commit()
    check([type(r) for r in results][:2] == [RolledBackError, BadVersionError], results)
    check(client.get_children("/t") == [])
    client.stop()
    client.close()


def acls():
    mine, other = connect(auth_data=[("digest", "me:secret")]), connect()
    mine.create("/mine", b"x", acl=[make_digest_acl("me", "secret", all=True)])
    try:
        other.get("/mine")
        check(False, "read without permission")
    except NoAuthError:
        pass
    other.add_auth("digest", "me:secret")
    check(other.get("/mine")[0] == b"x")
    acl, stat = other.get_acls("/mine")
    check(len(acl) == 1 and acl[0].perms == 31 and stat.acl_version == 0, acl, stat)
    for client in mine, other:
        client.stop()
        client.close()


def locks():
    inside = []
    count = [0]

    def work(client):
        lock = client.Lock("/lock")
        for _ in range(20):
            with lock:
                inside.append(1)
                check(len(inside) == 1, "two holders")
                count[0] += 1
                inside.pop()

    together(4, work)
    check(count[0] == 80, count)

    readers, writers = [], []

    def share(client):
        for _ in range(10):
            with client.ReadLock("/shared"):
                readers.append(1)
                check(not writers, "a reader beside a writer")
                readers.pop()
            with client.WriteLock("/shared"):
                writers.append(1)
                check(len(writers) == 1 and not readers, "a writer beside others")
                writers.pop()

    together(3, share)


def semaphores():
    inside = []
    both = threading.Barrier(2)

    def meet(client):
        with client.Semaphore("/semaphore", max_leases=2):
            both.wait(600)  # only two holders at the same time get past it

    together(2, meet)

    def work(client):
        semaphore = client.Semaphore("/semaphore", max_leases=2)
        for _ in range(10):
            with semaphore:
                inside.append(1)
                check(len(inside) <= 2, inside)
                time.sleep(0.002)
                inside.pop()

    together(4, work)


def counters():
    def work(client):
        counter = client.Counter("/counter")
        for _ in range(20):
            counter += 1

    together(3, work)
    client = connect()
    check(client.Counter("/counter").value == 60)
    client.stop()
    client.close()


def watchers():
    client, other = connect(), connect()
    data, children = queue.Queue(), queue.Queue()
    client.ensure_path("/watched")
    client.DataWatch("/watched", lambda value, stat, event: data.put(value))
    client.ChildrenWatch("/watched", lambda names: children.put(sorted(names)))
    check(data.get(timeout=120) == b"" and children.get(timeout=120) == [])
    other.set("/watched", b"x")
    check(data.get(timeout=120) == b"x")
    other.create("/watched/a")
    check(children.get(timeout=120) == ["a"])

    # The connection breaks, the watches come back.
    states = queue.Queue()
    client.add_listener(states.put)
    client._connection._socket.shutdown(2)
    check(states.get(timeout=120) == KazooState.SUSPENDED)
    check(states.get(timeout=120) == KazooState.CONNECTED)
    other.set("/watched", b"y")
    while data.get(timeout=120) != b"y":
        pass

    once = queue.Queue()
    client.exists("/later", watch=once.put)
    other.create("/later")
    event = once.get(timeout=120)
    check(event.type == EventType.CREATED and event.path == "/later", event)

    # The session ends behind the client's back.
    client.create("/watched/e", ephemeral=True)
    for _ in range(100):  # the client may take its session back before the twin has closed it
        twin = KazooClient(hosts=address, client_id=client.client_id)
        twin.start(timeout=120)
        twin.stop()
        twin.close()
        if other.exists("/watched/e") is None:
            break
    while states.get(timeout=120) != KazooState.LOST:
        pass
    check(other.exists("/watched/e") is None)
    for c in client, other:
        c.stop()
        c.close()


def elections():
    led = []

    def work(client):
        def lead():
            led.append(1)

        client.Election("/election", str(id(client))).run(lead)

    together(3, work)
    check(len(led) == 3, led)
    client = connect()
    party = client.Party("/party", "me")
    party.join()
    check(list(party) == ["me"])
    q = client.LockingQueue("/queue")
    q.put_all([b"1", b"2"])
    check(q.get(60) == b"1" and q.consume() and q.get(60) == b"2" and q.consume())
    barrier = client.DoubleBarrier("/barrier", 1)
    barrier.enter()
    barrier.leave()
    client.stop()
    client.close()


for part in operations, transactions, acls, locks, semaphores, counters, watchers, elections:
    part()
    print(part.__name__, flush=True)
