import java.io.EOFException;
import java.io.IOException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;

/** LeaderLatch: latch.go is the same in Go. */
class Latch {
    private final LeaderLatch latch;

    Latch(CuratorFramework client, String id, Runnable begin, Runnable end) {
        latch = new LeaderLatch(client, "/leaders/reports", id, LeaderLatch.CloseMode.NOTIFY_LEADER);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                begin.run();
            }

            @Override
            public void notLeader() {
                end.run();
            }
        });
    }

    void start() throws Exception {
        latch.start();
    }

    boolean leads() {
        return latch.hasLeadership();
    }

    boolean whenLeading(Runnable work) throws InterruptedException {
        try {
            latch.await();
        } catch (EOFException e) {
            return false; // the latch is closed
        }
        work.run();
        return true;
    }

    void close() throws IOException {
        latch.close();
    }
}
