import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.cache.NodeCache;
import org.apache.curator.framework.recipes.cache.PathChildrenCache;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.cache.TreeCacheSelector;

/** The four caches: cache.go is the same in Go. Three are deprecated, and are what most programs have. */
@SuppressWarnings("deprecation")
class Cache {
    static NodeCache settings(CuratorFramework client, Consumer<String> use) throws Exception {
        NodeCache cache = new NodeCache(client, "/settings");
        cache.getListenable().addListener(() -> {
            ChildData now = cache.getCurrentData();
            use.accept(now == null ? "default" : text(now));
        });
        cache.start();
        return cache;
    }

    static PathChildrenCache workers(
            CuratorFramework client, Consumer<String> came, Consumer<String> left, Consumer<String> state)
            throws Exception {
        PathChildrenCache cache = new PathChildrenCache(client, "/workers", true);
        cache.getListenable().addListener((c, event) -> {
            switch (event.getType()) {
                case CHILD_ADDED:
                    came.accept(text(event.getData()));
                    break;
                case CHILD_REMOVED:
                    left.accept(text(event.getData()));
                    break;
                case INITIALIZED:
                case CONNECTION_RECONNECTED:
                    state.accept("complete");
                    break;
                case CONNECTION_SUSPENDED:
                    state.accept("old, maybe");
                    break;
                default: // CHILD_UPDATED, CONNECTION_LOST
            }
        });
        cache.start(PathChildrenCache.StartMode.POST_INITIALIZED_EVENT);
        return cache;
    }

    static List<String> present(PathChildrenCache workers) {
        return workers.getCurrentData().stream().map(Cache::text).collect(Collectors.toList());
    }

    static TreeCache orders(CuratorFramework client) throws Exception {
        return TreeCache.newBuilder(client, "/orders")
                .setMaxDepth(2)
                .setCacheData(false)
                .setSelector(new TreeCacheSelector() {
                    @Override
                    public boolean traverseChildren(String fullPath) {
                        return acceptChild(fullPath);
                    }

                    @Override
                    public boolean acceptChild(String fullPath) {
                        return !fullPath.endsWith("/archive");
                    }
                })
                .build()
                .start();
    }

    static Set<String> region(TreeCache orders, String name) {
        Map<String, ChildData> children = orders.getCurrentChildren("/orders/" + name);
        return children == null ? Set.of() : new TreeSet<>(children.keySet());
    }

    static CuratorCache changes(CuratorFramework client, BiConsumer<String, String> changed, Consumer<String> deleted) {
        CuratorCache cache = CuratorCache.build(client, "/tokens");
        cache.listenable().addListener(CuratorCacheListener.builder()
                .forChanges((before, now) -> changed.accept(text(before), text(now)))
                .forDeletes(before -> deleted.accept(text(before)))
                .afterInitialized()
                .build());
        cache.start();
        return cache;
    }

    static long bytes(CuratorCache cache) {
        return cache.stream().mapToLong(node -> node.getData().length).sum();
    }

    private static String text(ChildData node) {
        return new String(node.getData(), UTF_8);
    }
}
