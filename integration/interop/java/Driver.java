import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;

/**
 * Java Curator as a contender in tests: obeys orders, one JSON object a line on stdin, and answers each on stdout with
 * the times at which what was ordered began and ended, by System.nanoTime, which on Linux is CLOCK_MONOTONIC.
 *
 * <p>A contender has a thread of its own, because Curator's locks belong to threads. It obeys one order after the other;
 * contenders do not wait for each other. The protocol is described in ../godriver/protocol.go.
 */
public final class Driver {
    private static final Gson GSON = new Gson();
    private static final PrintStream OUT = System.out;
    private static final Map<String, CuratorFramework> CLIENTS = new HashMap<>();
    private static final Map<String, Contender> CONTENDERS = new HashMap<>();

    /** What is to be done. */
    static final class Order {
        long id;
        String op;
        String client;
        String who;
        String connect;
        int session;
        int retries;
        String data;
        String recipe;
        String path;
        List<String> paths;
        int max;
        String count;
        boolean revocable;
        String side;
        long ms = -1;
        int n = 1;
        long value;
        long old;
        String node;
        String mode;
        boolean protect;
        String payloads;
        boolean enabled;
        Services.Service service;
        int times;
        long hold;
        long pause;
    }

    /** What came of it; also what happens by itself: then it has an event, and no id. */
    static final class Answer {
        Long id;
        String event;
        String who;
        boolean ok;
        long began;
        long ended;
        List<String> nodes;
        List<String> ids;
        long value;
        List<Long> values;
        List<Services.Service> services;
        String session;
        boolean acquired;
        boolean owned;
        List<Caches.Node> cache;
        String error;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ExecutorService clients = Executors.newCachedThreadPool(Driver::daemon);
        for (String line; (line = in.readLine()) != null; ) {
            Order order = GSON.fromJson(line, Order.class);
            switch (order.op) {
                case "crash" -> Runtime.getRuntime().halt(137);
                case "contender" -> answer(order, a -> hire(order));
                default -> {
                    Contender c = CONTENDERS.get(order.who);
                    if (c == null) {
                        clients.execute(() -> answer(order, a -> manage(order, a)));
                    } else {
                        c.thread.execute(() -> answer(order, a -> c.obey(order, a)));
                    }
                }
            }
        }
        System.exit(0);
    }

    private interface Step {
        void run(Answer a) throws Exception;
    }

    private static void answer(Order order, Step step) {
        Answer a = new Answer();
        a.id = order.id;
        a.who = order.who;
        a.ok = true;
        a.began = System.nanoTime();
        try {
            step.run(a);
        } catch (Throwable e) {
            a.ok = false;
            a.error = e.getClass().getSimpleName() + ": " + e.getMessage();
        }
        if (a.ended == 0) {
            a.ended = System.nanoTime();
        }
        say(a);
    }

    private static synchronized void say(Answer a) {
        OUT.println(GSON.toJson(a));
        OUT.flush();
    }

    static void event(String event, String who, long at, List<String> nodes, String error) {
        Answer a = new Answer();
        a.event = event;
        a.who = who;
        a.ok = error == null;
        a.began = a.ended = at;
        a.nodes = nodes;
        a.error = error;
        say(a);
    }

    /** A cache's event. */
    static void change(String who, Caches.Node node) {
        Answer a = new Answer();
        a.event = "cache";
        a.who = who;
        a.ok = true;
        a.began = a.ended = System.nanoTime();
        a.cache = List.of(node);
        say(a);
    }

    /** The instances of a service cache, after a change. */
    static void services(String who, List<Services.Service> services) {
        Answer a = new Answer();
        a.event = "services";
        a.who = who;
        a.ok = true;
        a.began = a.ended = System.nanoTime();
        a.services = services;
        say(a);
    }

    static Thread daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        return t;
    }

    /** Orders that concern clients, not contenders. */
    private static void manage(Order order, Answer a) throws Exception {
        CuratorFramework client;
        switch (order.op) {
            case "open" -> {
                client = CuratorFrameworkFactory.builder()
                        .connectString(order.connect)
                        .sessionTimeoutMs(order.session)
                        .connectionTimeoutMs(Math.min(order.session / 2, 5000))
                        .retryPolicy(new RetryNTimes(order.retries == 0 ? 40 : order.retries, 100))
                        .defaultData(order.data.getBytes(StandardCharsets.UTF_8))
                        .build();
                client.getConnectionStateListenable().addListener((c, state) -> {
                    if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                        event(state.name().toLowerCase(), order.client, System.nanoTime(), null, null);
                    }
                });
                client.start();
                if (!client.blockUntilConnected(order.ms > 0 ? (int) order.ms : 60_000, TimeUnit.MILLISECONDS)) {
                    client.close();
                    throw new IllegalStateException("not connected");
                }
                synchronized (CLIENTS) {
                    CLIENTS.put(order.client, client);
                }
                a.session = Long.toUnsignedString(client.getZookeeperClient().getZooKeeper().getSessionId());
            }
            case "close" -> client(order.client).close();
            case "write" -> Caches.write(client(order.client), order);
            case "revoke" -> Revoker.attemptRevoke(client(order.client), order.node);
            default -> throw new IllegalArgumentException("unknown order " + order.op);
        }
    }

    private static CuratorFramework client(String name) {
        synchronized (CLIENTS) {
            return CLIENTS.get(name);
        }
    }

    private static void hire(Order order) throws Exception {
        CuratorFramework client = client(order.client);
        Contender c = switch (order.recipe) {
            case "mutex" -> {
                DataMutex mutex = new DataMutex(client, order.path, order.data);
                if (order.revocable) {
                    mutex.makeRevocable(m -> event("revoke", order.who, System.nanoTime(), null, null));
                }
                yield new Locks(order.who, mutex);
            }
            case "rw" -> {
                InterProcessReadWriteLock rw = order.data == null
                        ? new InterProcessReadWriteLock(client, order.path)
                        : new InterProcessReadWriteLock(client, order.path, order.data.getBytes(StandardCharsets.UTF_8));
                if (order.revocable) {
                    rw.writeLock().makeRevocable(m -> event("revoke", order.who, System.nanoTime(), null, null));
                }
                yield new ReadWrite(order.who, rw);
            }
            case "semaphoremutex" -> new Locks(order.who, new InterProcessSemaphoreMutex(client, order.path));
            case "multi" -> {
                List<InterProcessLock> parts = new ArrayList<>();
                for (String path : order.paths) {
                    parts.add(new DataMutex(client, path, order.data));
                }
                yield new Multi(order.who, parts);
            }
            case "semaphore" -> new Permits(order, client);
            case "selector" -> new Elections.Selector(order, client);
            case "latch" -> new Elections.Latch(order, client);
            case "curatorcache" -> new Caches.Whole(order, client);
            case "treecache" -> new Caches.Tree(order, client);
            case "persistentnode" -> new Nodes(order, client);
            case "atomiclong" -> new Counters.OfLongs(order, client);
            case "atomicinteger" -> new Counters.OfIntegers(order, client);
            case "discovery" -> new Services.Discovery(order, client);
            case "servicecache" -> new Services.Cache(order, client);
            case "serviceprovider" -> new Services.Provider(order, client);
            default -> throw new IllegalArgumentException("unknown recipe " + order.recipe);
        };
        CONTENDERS.put(order.who, c);
    }

    /** A mutex whose nodes have the data ordered; Curator has a hook for that, not a parameter. */
    static final class DataMutex extends InterProcessMutex {
        private final byte[] data;

        DataMutex(CuratorFramework client, String path, String data) {
            super(client, path);
            this.data = data == null ? null : data.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        protected byte[] getLockNodeBytes() {
            return data;
        }
    }

    abstract static class Contender {
        final String who;
        final ExecutorService thread = Executors.newSingleThreadExecutor(Driver::daemon);

        Contender(String who) {
            this.who = who;
        }

        /** Returns the nodes' names, or null if the time was up; ms below 0 is no limit. */
        abstract List<String> acquire(Order order) throws Exception;

        abstract void release(Order order) throws Exception;

        void report(Answer a) throws Exception {}

        void obey(Order order, Answer a) throws Exception {
            switch (order.op) {
                case "acquire" -> {
                    a.nodes = acquire(order);
                    a.ended = System.nanoTime();
                    a.ok = a.nodes != null;
                }
                case "release" -> release(order);
                case "work" -> work(order);
                default -> report(a);
            }
        }

        /** Acquires and releases many times, and reports each by events. */
        void work(Order order) throws Exception {
            for (int i = 0; i < order.times; i++) {
                try {
                    List<String> nodes = acquire(order);
                    if (nodes == null) {
                        event("missed", who, System.nanoTime(), null, null);
                        continue;
                    }
                    event("acquired", who, System.nanoTime(), nodes, null);
                    LockSupport.parkNanos(order.hold * 1000);
                    event("released", who, System.nanoTime(), nodes, null);
                    release(order);
                } catch (Exception e) {
                    event("failed", who, System.nanoTime(), null, e.toString());
                    LockSupport.parkNanos(200_000_000);
                }
                LockSupport.parkNanos(order.pause * 1000);
            }
        }
    }

    /** Everything that is an InterProcessLock. */
    static class Locks extends Contender {
        private final InterProcessLock lock;

        Locks(String who, InterProcessLock lock) {
            super(who);
            this.lock = lock;
        }

        InterProcessLock lock(Order order) {
            return lock;
        }

        List<String> nodes(InterProcessLock lock) throws Exception {
            return List.of(nodeOf(lock));
        }

        @Override
        List<String> acquire(Order order) throws Exception {
            InterProcessLock lock = lock(order);
            if (order.ms < 0) {
                lock.acquire();
            } else if (!lock.acquire(order.ms, TimeUnit.MILLISECONDS)) {
                return null;
            }
            return nodes(lock);
        }

        @Override
        void release(Order order) throws Exception {
            lock(order).release();
        }

        @Override
        void report(Answer a) throws Exception {
            a.acquired = lock.isAcquiredInThisProcess();
            if (lock instanceof InterProcessMutex mutex) {
                a.owned = mutex.isOwnedByCurrentThread();
                a.nodes = new ArrayList<>();
                for (String path : mutex.getParticipantNodes()) {
                    a.nodes.add(name(path));
                }
            }
        }
    }

    static final class ReadWrite extends Locks {
        private final InterProcessReadWriteLock rw;

        ReadWrite(String who, InterProcessReadWriteLock rw) {
            super(who, null);
            this.rw = rw;
        }

        @Override
        InterProcessLock lock(Order order) {
            return "read".equals(order.side) ? rw.readLock() : rw.writeLock();
        }

        @Override
        void report(Answer a) {
            a.acquired = rw.writeLock().isAcquiredInThisProcess();
            a.owned = rw.readLock().isOwnedByCurrentThread();
        }
    }

    static final class Multi extends Locks {
        private final List<InterProcessLock> parts;

        Multi(String who, List<InterProcessLock> parts) {
            super(who, new InterProcessMultiLock(parts));
            this.parts = parts;
        }

        @Override
        List<String> nodes(InterProcessLock lock) throws Exception {
            List<String> all = new ArrayList<>();
            for (InterProcessLock part : parts) {
                all.add(nodeOf(part));
            }
            return all;
        }
    }

    static final class Permits extends Contender {
        private final InterProcessSemaphoreV2 semaphore;
        private final SharedCount count;
        private final Deque<Collection<Lease>> held = new ArrayDeque<>();

        Permits(Order order, CuratorFramework client) throws Exception {
            super(order.who);
            if (order.count == null) {
                count = null;
                semaphore = new InterProcessSemaphoreV2(client, order.path, order.max);
            } else {
                count = new SharedCount(client, order.count, order.max);
                count.start();
                semaphore = new InterProcessSemaphoreV2(client, order.path, count);
            }
            if (order.data != null) {
                semaphore.setNodeData(order.data.getBytes(StandardCharsets.UTF_8));
            }
        }

        @Override
        List<String> acquire(Order order) throws Exception {
            Collection<Lease> leases = order.ms < 0
                    ? semaphore.acquire(order.n)
                    : semaphore.acquire(order.n, order.ms, TimeUnit.MILLISECONDS);
            if (leases == null) {
                return null;
            }
            held.push(leases);
            List<String> names = new ArrayList<>();
            for (Lease lease : leases) {
                names.add(lease.getNodeName());
            }
            return names;
        }

        @Override
        void release(Order order) {
            semaphore.returnAll(held.pop());
        }

        @Override
        void obey(Order order, Answer a) throws Exception {
            switch (order.op) {
                case "setvalue" -> count.setCount((int) order.value);
                case "value" -> a.value = count.getCount();
                default -> super.obey(order, a);
            }
        }

        @Override
        void report(Answer a) throws Exception {
            a.nodes = new ArrayList<>(semaphore.getParticipantNodes());
        }
    }

    /** The node of a lock that the calling thread holds. Curator keeps it to itself, for most of its locks. */
    static String nodeOf(InterProcessLock lock) throws Exception {
        if (lock instanceof InterProcessSemaphoreMutex) {
            var field = InterProcessSemaphoreMutex.class.getDeclaredField("lease");
            field.setAccessible(true);
            return ((Lease) field.get(lock)).getNodeName();
        }
        var method = InterProcessMutex.class.getDeclaredMethod("getLockPath");
        method.setAccessible(true);
        return name((String) method.invoke(lock));
    }

    static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
