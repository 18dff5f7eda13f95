import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.cache.TreeCacheEvent;
import org.apache.zookeeper.data.Stat;

/** Curator's caches as contenders of the driver: to acquire is to start, to release is to close. */
@SuppressWarnings("deprecation") // of TreeCache
final class Caches {
    private Caches() {}

    /** A node in an event or in a state; without a path, an event of the whole cache. */
    record Node(
            String kind, String path, String data, long czxid, long mzxid, long pzxid, int version, int cversion, Node old) {
        static Node of(String kind, ChildData node, ChildData old) {
            ChildData shown = node == null ? old : node;
            String data = shown.getData() == null ? null : new String(shown.getData(), StandardCharsets.UTF_8);
            Stat stat = shown.getStat();
            return new Node(
                    kind,
                    shown.getPath(),
                    data,
                    stat.getCzxid(),
                    stat.getMzxid(),
                    stat.getPzxid(),
                    stat.getVersion(),
                    stat.getCversion(),
                    node == null || old == null ? null : of(null, old, null));
        }
    }

    /** Reports each event as it comes, and all nodes when asked. */
    abstract static class Cache extends Driver.Contender {
        final CuratorFramework client;
        final String path;
        private final CountDownLatch initialized = new CountDownLatch(1);

        Cache(Driver.Order order, CuratorFramework client) {
            super(order.who);
            this.client = client;
            path = order.path;
        }

        abstract void start() throws Exception;

        abstract void close();

        abstract List<Node> nodes();

        /** Returns when the listener has been called for all that the state has. */
        abstract void flush() throws Exception;

        void changed(String kind, ChildData node, ChildData old) {
            Driver.change(who, Node.of(kind, node, old));
        }

        void happened(String kind) {
            Driver.change(who, new Node(kind, null, null, 0, 0, 0, 0, 0, null));
            if (kind.equals("synced")) {
                initialized.countDown();
            }
        }

        @Override
        List<String> acquire(Driver.Order order) throws Exception {
            start();
            return initialized.await(order.ms < 0 ? Long.MAX_VALUE : order.ms, TimeUnit.MILLISECONDS) ? List.of() : null;
        }

        @Override
        void release(Driver.Order order) {
            close();
        }

        /**
         * All nodes. The round trip ends after the callback that has put the newest of them there: both run on the one
         * event thread of the client.
         */
        @Override
        void report(Driver.Answer a) throws Exception {
            a.cache = nodes();
            CountDownLatch answered = new CountDownLatch(1);
            client.checkExists().inBackground((c, e) -> answered.countDown()).forPath("/");
            answered.await();
            a.session = Long.toUnsignedString(client.getZookeeperClient().getZooKeeper().getSessionId());
            flush();
        }
    }

    static final class Whole extends Cache {
        private final CuratorCache cache;

        Whole(Driver.Order order, CuratorFramework client) {
            super(order, client);
            cache = order.max == 0
                    ? CuratorCache.build(client, path, CuratorCache.Options.SINGLE_NODE_CACHE)
                    : CuratorCache.build(client, path);
            cache.listenable().addListener(new CuratorCacheListener() {
                @Override
                public void event(Type type, ChildData old, ChildData node) {
                    changed(type.name().substring("NODE_".length()).toLowerCase(), node, old);
                }

                @Override
                public void initialized() {
                    happened("synced");
                }
            });
        }

        @Override
        void start() {
            cache.start();
        }

        @Override
        void close() {
            cache.close();
        }

        @Override
        List<Node> nodes() {
            return cache.stream().map(node -> Node.of(null, node, null)).toList();
        }

        @Override
        void flush() throws Exception {
            client.runSafe(() -> {}).get(); // listeners run on this thread
        }
    }

    static final class Tree extends Cache {
        private final TreeCache cache;
        private final ExecutorService listeners = Executors.newSingleThreadExecutor(Driver::daemon);

        Tree(Driver.Order order, CuratorFramework client) {
            super(order, client);
            cache = TreeCache.newBuilder(client, path)
                    .setExecutor(listeners)
                    .setMaxDepth(order.max)
                    .build();
            cache.getListenable().addListener((c, e) -> report(e));
        }

        private void report(TreeCacheEvent e) {
            switch (e.getType()) {
                case NODE_ADDED -> changed("created", e.getData(), null);
                case NODE_UPDATED -> changed("changed", e.getData(), e.getOldData());
                case NODE_REMOVED -> changed("deleted", null, e.getData());
                case INITIALIZED -> happened("synced");
                case CONNECTION_SUSPENDED -> happened("suspended");
                case CONNECTION_LOST -> happened("lost");
                case CONNECTION_RECONNECTED -> happened("reconnected");
            }
        }

        @Override
        void start() throws Exception {
            cache.start();
        }

        @Override
        void close() {
            cache.close();
        }

        /** Goes from node to node: the iterator fails once a node has lost its last child (GH 1302). */
        @Override
        List<Node> nodes() {
            List<Node> all = new ArrayList<>();
            ChildData root = cache.getCurrentData(path);
            if (root != null) {
                collect(root, all);
            }
            return all;
        }

        private void collect(ChildData node, List<Node> all) {
            all.add(Node.of(null, node, null));
            Map<String, ChildData> children = cache.getCurrentChildren(node.getPath());
            if (children != null) {
                children.values().forEach(child -> collect(child, all));
            }
        }

        @Override
        void flush() throws Exception {
            listeners.submit(() -> {}).get();
        }
    }

    /** Creates a node with its parents or sets its data; with a null for data, deletes it with all below it. */
    static void write(CuratorFramework client, Driver.Order order) throws Exception {
        if (order.data == null) {
            client.delete().quietly().deletingChildrenIfNeeded().forPath(order.node);
        } else {
            client.create()
                    .orSetData()
                    .creatingParentsIfNeeded()
                    .forPath(order.node, order.data.getBytes(StandardCharsets.UTF_8));
        }
    }
}
