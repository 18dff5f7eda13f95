import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Set;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.nodes.PersistentTtlNode;
import org.apache.zookeeper.CreateMode;

/** Registrations: persistent_nodes.go is the same in Go. */
class PersistentNodes {
    static PersistentNode register(CuratorFramework client, String address, Consumer<String> created) throws Exception {
        PersistentNode node =
                new PersistentNode(client, CreateMode.EPHEMERAL, false, "/services/" + address, "up".getBytes(UTF_8));
        node.getListenable().addListener(created::accept);
        node.start();
        return node;
    }

    static void drain(PersistentNode node) throws Exception {
        node.setData("draining".getBytes(UTF_8));
    }

    static PersistentTtlNode lease(CuratorFramework client, String name) throws Exception {
        PersistentTtlNode node = new PersistentTtlNode(client, "/tenants/" + name, 3_600_000, new byte[0]);
        node.start();
        return node;
    }

    static GroupMember join(CuratorFramework client, String id, String address) {
        GroupMember member = new GroupMember(client, "/members", id, address.getBytes(UTF_8));
        member.start();
        return member;
    }

    static Set<String> members(GroupMember member) {
        return member.getCurrentMembers().keySet();
    }
}
