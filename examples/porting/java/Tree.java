import java.util.List;
import java.util.function.Consumer;
import org.apache.curator.ensemble.EnsembleProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** Whole trees, watches, and servers that change: tree.go is the same in Go. */
class Tree {
    static CuratorFramework listed(EnsembleProvider servers) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .ensembleProvider(servers)
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .build();
        client.start();
        return client;
    }

    static boolean put(CuratorFramework client, String path, byte[] data) throws Exception {
        Stat stat = new Stat();
        client.create().orSetData().storingStatIn(stat).creatingParentsIfNeeded().forPath(path, data);
        return stat.getVersion() == 0; // it was created
    }

    static void clear(CuratorFramework client, String path) throws Exception {
        try {
            client.delete().guaranteed().deletingChildrenIfNeeded().forPath(path);
        } catch (KeeperException.NoNodeException e) {
            // there is nothing to clear
        }
    }

    static CuratorCache follow(CuratorFramework client, String path, Consumer<byte[]> use) {
        CuratorCache cache = CuratorCache.build(client, path, CuratorCache.Options.SINGLE_NODE_CACHE);
        cache.listenable().addListener(CuratorCacheListener.builder()
                .forNodeCache(() -> use.accept(cache.get(path).map(ChildData::getData).orElse(null)))
                .build());
        cache.start();
        return cache;
    }

    static void names(CuratorFramework client, String path, Consumer<List<String>> use) throws Exception {
        CuratorWatcher again = event -> names(client, path, use);
        use.accept(client.getChildren().usingWatcher(again).forPath(path));
    }
}
