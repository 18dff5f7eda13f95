import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.zookeeper.CreateMode;

/** Curator's persistent node as a contender of the driver: to acquire is to start, to release is to close. */
final class Nodes extends Driver.Contender {
    private final PersistentNode node;

    Nodes(Driver.Order order, CuratorFramework client) {
        super(order.who);
        byte[] data = order.data.getBytes(StandardCharsets.UTF_8);
        node = new PersistentNode(client, CreateMode.valueOf(order.mode), order.protect, order.path, data);
        node.getListenable()
                .addListener(path -> Driver.event("created", who, System.nanoTime(), List.of(Driver.name(path)), null));
    }

    @Override
    List<String> acquire(Driver.Order order) throws Exception {
        node.start();
        long ms = order.ms < 0 ? Long.MAX_VALUE : order.ms;
        return node.waitForInitialCreate(ms, TimeUnit.MILLISECONDS) ? List.of(Driver.name(node.getActualPath())) : null;
    }

    @Override
    void release(Driver.Order order) throws Exception {
        node.close();
    }

    @Override
    void obey(Driver.Order order, Driver.Answer a) throws Exception {
        if (order.op.equals("setdata")) {
            node.setData(order.data.getBytes(StandardCharsets.UTF_8));
        } else {
            super.obey(order, a);
        }
    }
}
