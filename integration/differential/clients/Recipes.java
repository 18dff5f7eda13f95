import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Transaction;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/** Has the Java client and Curator do their work on a server, and checks what comes of it. Prints a line for each thing. */
public final class Recipes {
    private static String address;

    interface Part {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        address = args[0];
        part("client", Recipes::client);
        part("watches", Recipes::watches);
        part("acl", Recipes::acl);
        part("mutex", Recipes::mutex);
        part("readWriteLock", Recipes::readWriteLock);
        part("semaphore", Recipes::semaphore);
        part("sharedCount", Recipes::sharedCount);
        part("leaderLatch", Recipes::leaderLatch);
        part("cache", Recipes::cache);
        System.exit(0); // whatever threads are left
    }

    private static void part(String name, Part part) throws Exception {
        part.run();
        System.out.println(name);
    }

    private static void check(boolean ok, Object what) {
        if (!ok) {
            throw new AssertionError(what);
        }
    }

    private static byte[] bytes(String s) {
        return s.getBytes(StandardCharsets.UTF_8);
    }

    private static ZooKeeper zooKeeper(Watcher watcher) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zk = new ZooKeeper(address, 10000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
            watcher.process(event);
        });
        check(connected.await(2, TimeUnit.MINUTES), "not connected");
        return zk;
    }

    private static CuratorFramework curator() throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(address, 10000, 5000, new RetryNTimes(100, 100));
        client.start();
        check(client.blockUntilConnected(2, TimeUnit.MINUTES), "not connected");
        return client;
    }

    private static void client() throws Exception {
        try (ZooKeeper zk = zooKeeper(event -> {})) {
            Stat stat = new Stat();
            String path = zk.create("/client", bytes("one"), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, stat);
            check(path.equals("/client") && stat.getDataLength() == 3 && stat.getCzxid() == stat.getPzxid(), stat);
            check(new String(zk.getData("/client", false, stat), StandardCharsets.UTF_8).equals("one"), stat);
            check(zk.setData("/client", bytes("four"), 0).getVersion() == 1, "version");
            try {
                zk.setData("/client", null, 0);
                check(false, "a wrong version was taken");
            } catch (KeeperException.BadVersionException e) {
                check(e.getPath().equals("/client"), e);
            }
            zk.create("/client/e", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            zk.create("/client/ttl", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, stat, 100000);
            zk.create("/client/c", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
            check(zk.create("/client/s-", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL).equals("/client/s-0000000003"), "name");
            check(zk.getEphemerals().equals(List.of("/client/e")), zk.getEphemerals());
            check(zk.getAllChildrenNumber("/client") == 4, "children");
            check(zk.getChildren("/client", false, stat).size() == 4 && stat.getCversion() == 4, stat);

            Transaction t = zk.transaction();
            t.check("/client", 1).create("/client/t", bytes("t"), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            List<OpResult> results = t.setData("/client/t", bytes("u"), 0).delete("/client/t", 1).commit();
            check(results.size() == 4, results);
            try {
                zk.multi(List.of(Op.delete("/client/e", -1), Op.check("/client", 7), Op.delete("/client/c", -1)));
                check(false, "a transaction that fails was executed");
            } catch (KeeperException.BadVersionException e) {
                check(e.getResults().size() == 3, e.getResults());
            }
            check(zk.exists("/client/e", false) != null, "deleted");
            List<OpResult> read = zk.multi(List.of(Op.getData("/client"), Op.getChildren("/client"), Op.getData("/none")));
            check(((OpResult.GetDataResult) read.get(0)).getStat().getVersion() == 1, read);
            check(((OpResult.GetChildrenResult) read.get(1)).getChildren().size() == 4, read);
            check(((OpResult.ErrorResult) read.get(2)).getErr() == KeeperException.Code.NONODE.intValue(), read);
            zk.sync("/client", (rc, p, ctx) -> {}, null);
            check(new String(zk.getConfig(false, stat), StandardCharsets.UTF_8).isEmpty(), "config");
        }
        try (ZooKeeper zk = zooKeeper(event -> {})) {
            check(zk.exists("/client/e", false) == null, "an ephemeral node outlived its session");
        }
    }

    private static void watches() throws Exception {
        BlockingQueue<WatchedEvent> events = new LinkedBlockingQueue<>();
        Watcher add = event -> { // what happens to nodes, not to the connection, nor to watches
            if (event.getType().name().startsWith("Node")) {
                events.add(event);
            }
        };
        Part none = () -> check(events.poll(50, TimeUnit.MILLISECONDS) == null, "an event too many");
        try (ZooKeeper zk = zooKeeper(add); ZooKeeper other = zooKeeper(event -> {})) {
            zk.exists("/watched", true);
            other.create("/watched", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            event(events, Watcher.Event.EventType.NodeCreated, "/watched");
            zk.getChildren("/watched", true);
            other.create("/watched/a", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            event(events, Watcher.Event.EventType.NodeChildrenChanged, "/watched");
            other.setData("/watched", bytes("x"), -1);
            none.run();
            zk.addWatch("/watched", add, AddWatchMode.PERSISTENT_RECURSIVE);
            other.setData("/watched/a", bytes("x"), -1);
            other.delete("/watched/a", -1);
            event(events, Watcher.Event.EventType.NodeDataChanged, "/watched/a");
            event(events, Watcher.Event.EventType.NodeDeleted, "/watched/a");
            zk.removeAllWatches("/watched", Watcher.WatcherType.Any, false);
            other.setData("/watched", bytes("y"), -1);
            none.run();

            // The client hears of what happens while it is away when it comes back.
            zk.getData("/watched", true, null);
            zk.addWatch("/watched", add, AddWatchMode.PERSISTENT);
            zk.getTestable().closeSocket();
            other.setData("/watched", bytes("z"), -1);
            event(events, Watcher.Event.EventType.NodeDataChanged, "/watched");
            while (events.poll(200, TimeUnit.MILLISECONDS) != null) {
                // the persistent watch may have seen it, too
            }
            zk.exists("/", false);
            other.create("/watched/b", null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            event(events, Watcher.Event.EventType.NodeChildrenChanged, "/watched");
        }
    }

    private static void event(BlockingQueue<WatchedEvent> events, Watcher.Event.EventType type, String path) throws Exception {
        WatchedEvent e = events.poll(2, TimeUnit.MINUTES);
        check(e != null && e.getType() == type && e.getPath().equals(path), e + " instead of " + type + " " + path);
    }

    private static void acl() throws Exception {
        try (ZooKeeper mine = zooKeeper(event -> {}); ZooKeeper other = zooKeeper(event -> {})) {
            mine.addAuthInfo("digest", bytes("me:secret"));
            mine.create("/mine", bytes("x"), ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
            check(mine.whoAmI().stream().anyMatch(id -> id.getAuthScheme().equals("digest") && id.getUser().equals("me")), mine.whoAmI());
            try {
                other.getData("/mine", false, null);
                check(false, "read without permission");
            } catch (KeeperException.NoAuthException e) {
                check(e.getPath().equals("/mine"), e);
            }
            mine.setACL("/mine", ZooDefs.Ids.READ_ACL_UNSAFE, 0);
            check(other.getData("/mine", false, null).length == 1, "read");
            check(other.getACL("/mine", null).equals(ZooDefs.Ids.READ_ACL_UNSAFE), "ACL");
        }
    }

    /** Runs a task in several threads, each of which has a client of its own. */
    private static void together(int threads, Task task) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(pool.submit(() -> {
                try (CuratorFramework client = curator()) {
                    task.run(client);
                }
                return null;
            }));
        }
        for (Future<?> f : all) {
            f.get(10, TimeUnit.MINUTES);
        }
        pool.shutdown();
    }

    interface Task {
        void run(CuratorFramework client) throws Exception;
    }

    private static void mutex() throws Exception {
        int[] count = {0};
        AtomicInteger inside = new AtomicInteger();
        together(4, client -> {
            InterProcessMutex mutex = new InterProcessMutex(client, "/mutex");
            for (int i = 0; i < 25; i++) {
                mutex.acquire();
                mutex.acquire();
                check(inside.incrementAndGet() == 1, "two holders");
                count[0]++;
                inside.decrementAndGet();
                mutex.release();
                mutex.release();
            }
        });
        check(count[0] == 100, count[0]);
        try (CuratorFramework a = curator(); CuratorFramework b = curator()) {
            InterProcessMutex held = new InterProcessMutex(a, "/mutex");
            InterProcessMutex wanted = new InterProcessMutex(b, "/mutex");
            held.acquire();
            check(!wanted.acquire(50, TimeUnit.MILLISECONDS), "acquired what is held");
            a.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
            end(a);
            check(wanted.acquire(2, TimeUnit.MINUTES), "the lock of a session that is over is still held");
            wanted.release();
        }
    }

    /** Ends a client's session behind its back. */
    private static void end(CuratorFramework client) throws Exception {
        ZooKeeper zk = client.getZookeeperClient().getZooKeeper();
        long id = zk.getSessionId();
        byte[] password = zk.getSessionPasswd();
        if (id == 0) {
            return; // Curator has closed the one before, and is only beginning this one
        }
        for (int i = 0; i < 100; i++) { // the client may take its session back before the twin has closed it
            BlockingQueue<Watcher.Event.KeeperState> states = new LinkedBlockingQueue<>();
            ZooKeeper twin = new ZooKeeper(address, 10000, event -> states.add(event.getState()), id, password);
            Watcher.Event.KeeperState state = states.poll(2, TimeUnit.MINUTES);
            check(state != null, "not connected");
            twin.close();
            if (state == Watcher.Event.KeeperState.Expired) {
                return;
            }
        }
        check(false, "the session does not end");
    }

    private static void readWriteLock() throws Exception {
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        together(4, client -> {
            InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, "/rw");
            for (int i = 0; i < 15; i++) {
                lock.readLock().acquire();
                readers.incrementAndGet();
                check(writers.get() == 0, "a reader beside a writer");
                readers.decrementAndGet();
                lock.readLock().release();
                lock.writeLock().acquire();
                check(writers.incrementAndGet() == 1 && readers.get() == 0, "a writer beside others");
                writers.decrementAndGet();
                lock.writeLock().release();
            }
        });
    }

    private static void semaphore() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        together(4, client -> {
            InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, "/semaphore", 2);
            for (int i = 0; i < 15; i++) {
                try (Lease lease = semaphore.acquire()) {
                    int n = inside.incrementAndGet();
                    check(n <= 2, n + " leases");
                    Thread.sleep(2);
                    inside.decrementAndGet();
                }
            }
        });
        try (CuratorFramework client = curator()) {
            InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, "/semaphore", 2);
            try (Lease one = semaphore.acquire(5, TimeUnit.MINUTES); Lease two = semaphore.acquire(5, TimeUnit.MINUTES)) {
                check(one != null && two != null, "there were never two leases");
                check(semaphore.acquire(100, TimeUnit.MILLISECONDS) == null, "there were three leases");
            }
        }
    }

    private static void sharedCount() throws Exception {
        try (CuratorFramework a = curator(); CuratorFramework b = curator();
                SharedCount mine = new SharedCount(a, "/count", 5); SharedCount other = new SharedCount(b, "/count", 5)) {
            BlockingQueue<Integer> heard = new LinkedBlockingQueue<>();
            other.addListener(new SharedCountListener() {
                @Override
                public void countHasChanged(SharedCountReader count, int value) {
                    heard.add(value);
                }

                @Override
                public void stateChanged(CuratorFramework client, ConnectionState state) {}
            });
            mine.start();
            other.start();
            mine.setCount(7);
            Integer value = heard.poll(2, TimeUnit.MINUTES);
            check(value != null && value == 7 && other.getCount() == 7, value);
            check(other.trySetCount(other.getVersionedValue(), 8), "not set");
            check(!mine.trySetCount(mine.getVersionedValue(), 9) || mine.getVersionedValue().getVersion() > 2, "an old version was taken");
        }
    }

    private static void leaderLatch() throws Exception {
        try (CuratorFramework a = curator(); CuratorFramework b = curator()) {
            LeaderLatch first = new LeaderLatch(a, "/leader", "a");
            LeaderLatch second = new LeaderLatch(b, "/leader", "b");
            first.start();
            check(first.await(2, TimeUnit.MINUTES), "no leader");
            second.start();
            check(!second.await(50, TimeUnit.MILLISECONDS), "two leaders");
            check(second.getLeader().getId().equals("a"), second.getLeader());
            while (second.getParticipants().size() < 2) { // or the first, back, could come in ahead of it
                Thread.sleep(10);
            }
            end(a);
            check(second.await(2, TimeUnit.MINUTES), "no leader after a session's end");
            second.close();
            check(first.await(2, TimeUnit.MINUTES), "the first one does not come back");
            first.close();
        }
    }

    private static void cache() throws Exception {
        try (CuratorFramework client = curator(); CuratorCache cache = CuratorCache.build(client, "/cache")) {
            client.create().forPath("/cache", bytes("root"));
            client.create().forPath("/cache/old", bytes("1"));
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            CountDownLatch initialized = new CountDownLatch(1);
            cache.listenable().addListener(CuratorCacheListener.builder()
                    .forCreates(node -> heard.add("created " + node.getPath()))
                    .forChanges((before, now) -> heard.add("changed " + now.getPath() + " to " + new String(now.getData(), StandardCharsets.UTF_8)))
                    .forDeletes(node -> heard.add("deleted " + node.getPath()))
                    .forInitialized(initialized::countDown)
                    .build());
            cache.start();
            check(initialized.await(2, TimeUnit.MINUTES), "not initialized");
            check(cache.size() == 2, cache.size());
            heard.clear();
            client.setData().forPath("/cache/old", bytes("2"));
            // The cache reads a node that has changed. It would report nothing but the deletion of one that is gone by then.
            String changed = heard.poll(2, TimeUnit.MINUTES);
            check("changed /cache/old to 2".equals(changed), changed);
            client.create().creatingParentContainersIfNeeded().forPath("/cache/new/deep");
            client.delete().forPath("/cache/old");
            Set<String> want = Set.of("created /cache/new", "created /cache/new/deep", "deleted /cache/old");
            Set<String> got = ConcurrentHashMap.newKeySet();
            while (got.size() < want.size()) { // a cache reports different nodes in any order
                String event = heard.poll(2, TimeUnit.MINUTES);
                check(event != null && want.contains(event) && got.add(event), event + " after " + got);
            }
        }
    }
}
