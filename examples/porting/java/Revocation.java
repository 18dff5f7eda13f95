import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;

/** Revocable and Revoker: revocation.go is the same in Go. */
class Revocation {
    static void holdUntilAsked(CuratorFramework client, Runnable holding) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/nightly");
        CountDownLatch asked = new CountDownLatch(1);
        mutex.makeRevocable(lock -> asked.countDown()); // before acquire, and again before the next
        mutex.acquire();
        try {
            holding.run();
            asked.await();
        } finally {
            mutex.release();
        }
    }

    static void ask(CuratorFramework client) throws Exception {
        Collection<String> queue = new InterProcessMutex(client, "/locks/nightly").getParticipantNodes();
        if (!queue.isEmpty()) {
            Revoker.attemptRevoke(client, queue.iterator().next());
        }
    }
}
