import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;

/** InterProcessMultiLock: multi_lock.go is the same in Go. */
class MultiLock {
    static InterProcessMultiLock ofPaths(CuratorFramework client) {
        return new InterProcessMultiLock(client, List.of("/locks/from", "/locks/to"));
    }

    static InterProcessMultiLock ofLocks(CuratorFramework client) {
        InterProcessLock from = new InterProcessMutex(client, "/locks/from");
        InterProcessLock to = new InterProcessSemaphoreMutex(client, "/locks/single");
        return new InterProcessMultiLock(List.of(from, to));
    }

    static boolean transfer(InterProcessMultiLock both, Runnable work) throws Exception {
        if (!both.acquire(10, TimeUnit.SECONDS)) { // ten seconds for each of the locks
            return false;
        }
        try {
            work.run();
            return both.isAcquiredInThisProcess();
        } finally {
            both.release();
        }
    }
}
