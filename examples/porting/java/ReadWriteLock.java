import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** InterProcessReadWriteLock: read_write_lock.go is the same in Go. */
class ReadWriteLock {
    private final InterProcessReadWriteLock lock;

    ReadWriteLock(CuratorFramework client) {
        lock = new InterProcessReadWriteLock(client, "/locks/config", "reports at host9".getBytes());
    }

    void read(Runnable work) throws Exception {
        lock.readLock().acquire();
        try {
            work.run();
        } finally {
            lock.readLock().release();
        }
    }

    void downgrade(Runnable write, Runnable read) throws Exception {
        lock.writeLock().acquire();
        try {
            write.run();
            lock.readLock().acquire();
        } finally {
            lock.writeLock().release();
        }
        try {
            read.run();
        } finally {
            lock.readLock().release();
        }
    }

    boolean upgrade() throws Exception {
        lock.readLock().acquire();
        try {
            return lock.writeLock().acquire(1, TimeUnit.SECONDS); // never true; without a time it would hang
        } finally {
            lock.readLock().release();
        }
    }

    int inQueue() throws Exception {
        Collection<String> readers = lock.readLock().getParticipantNodes();
        Collection<String> writers = lock.writeLock().getParticipantNodes();
        return readers.size() + writers.size();
    }

    String guard() throws Exception {
        return lock.writeLock().getLockPath(); // to put a check of it into a transaction
    }
}
