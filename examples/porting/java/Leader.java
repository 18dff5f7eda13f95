import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

/** LeaderSelector: leader.go is the same in Go. */
class Leader {
    private final LeaderSelector selector;

    Leader(CuratorFramework client, String id, Runnable work) {
        selector = new LeaderSelector(client, "/leaders/billing", new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework client) {
                work.run(); // interrupted when the connection is lost
            }
        });
        selector.setId(id);
    }

    void start() {
        selector.autoRequeue();
        selector.start();
    }

    void stop() {
        selector.close();
    }

    String who() throws Exception {
        return selector.getLeader().getId();
    }

    int waiting() throws Exception {
        return Math.max(selector.getParticipants().size() - 1, 0);
    }
}
