import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.shared.SharedCountReader;

/** InterProcessSemaphoreV2 and Lease: semaphore.go is the same in Go. */
class Semaphore {
    private final InterProcessSemaphoreV2 semaphore;

    Semaphore(CuratorFramework client) {
        semaphore = new InterProcessSemaphoreV2(client, "/locks/pool", 3);
        semaphore.setNodeData("reports at host9".getBytes());
    }

    Semaphore(CuratorFramework client, SharedCountReader limit) {
        semaphore = new InterProcessSemaphoreV2(client, "/locks/pool", limit);
    }

    String one() throws Exception {
        try (Lease lease = semaphore.acquire()) {
            return lease.getNodeName() + " " + new String(lease.getData());
        }
    }

    boolean oneForTenSeconds() throws Exception {
        Lease lease = semaphore.acquire(10, TimeUnit.SECONDS);
        if (lease == null) {
            return false;
        }
        semaphore.returnLease(lease);
        return true;
    }

    int two() throws Exception {
        Collection<Lease> leases = semaphore.acquire(2); // both or none
        int inUse = semaphore.getParticipantNodes().size();
        semaphore.returnAll(leases);
        return inUse;
    }

    boolean twoIfFree() throws Exception {
        Collection<Lease> leases = semaphore.acquire(2, 0, TimeUnit.SECONDS);
        if (leases == null) {
            return false;
        }
        semaphore.returnAll(leases);
        return true;
    }
}
