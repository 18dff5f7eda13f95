import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.SessionConnectionStateErrorPolicy;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** CuratorFramework: client.go is the same in Go. */
class Client {
    static CuratorFramework connect(String servers) throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs(30_000)
                .connectionTimeoutMs(5_000)
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .connectionStateErrorPolicy(new SessionConnectionStateErrorPolicy())
                .namespace("app")
                .build();
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state == ConnectionState.LOST) {
                System.err.println("lost");
            }
        });
        client.start();
        if (!client.blockUntilConnected(5, TimeUnit.SECONDS)) {
            client.close();
            throw new IllegalStateException("no connection");
        }
        return client;
    }

    static List<String> nodes(CuratorFramework client) throws Exception {
        client.create().creatingParentContainersIfNeeded().forPath("/config/host", "db1".getBytes());
        client.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/config/seen-", new byte[0]);
        Stat stat = new Stat();
        client.getData().storingStatIn(stat).forPath("/config/host");
        try {
            client.setData().withVersion(stat.getVersion() + 1).forPath("/config/host", "db2".getBytes());
        } catch (KeeperException.BadVersionException e) {
            client.setData().forPath("/config/host", "db2".getBytes());
        }
        if (client.checkExists().forPath("/config/port") != null) {
            client.delete().guaranteed().forPath("/config/port");
        }
        client.sync().forPath("/config");
        client.transaction().forOperations(
                client.transactionOp().check().forPath("/config/host"),
                client.transactionOp().create().forPath("/config/port", "5432".getBytes()));
        return client.usingNamespace("app/config").getChildren().forPath("/");
    }
}
