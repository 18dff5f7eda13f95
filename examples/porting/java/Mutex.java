import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Locker;

/** InterProcessMutex and Locker: mutex.go is the same in Go. */
class Mutex {
    private final InterProcessMutex mutex;

    Mutex(CuratorFramework client) {
        mutex = new InterProcessMutex(client, "/locks/nightly");
    }

    void untilFree(Runnable work) throws Exception {
        mutex.acquire();
        try {
            work.run();
        } finally {
            mutex.release();
        }
    }

    boolean forTenSeconds(Runnable work) throws Exception {
        if (!mutex.acquire(10, TimeUnit.SECONDS)) {
            return false;
        }
        try {
            work.run();
        } finally {
            mutex.release();
        }
        return true;
    }

    boolean ifFree(Runnable work) throws Exception {
        if (!mutex.acquire(0, TimeUnit.SECONDS)) {
            return false;
        }
        try {
            work.run();
        } finally {
            mutex.release();
        }
        return true;
    }

    void locker(Runnable work) throws Exception {
        try (Locker locker = new Locker(mutex, 10, TimeUnit.SECONDS)) {
            work.run();
        }
    }

    void twice(Runnable work) throws Exception {
        mutex.acquire();
        try {
            mutex.acquire(); // the same thread: re-enters
            try {
                work.run();
            } finally {
                mutex.release();
            }
        } finally {
            mutex.release();
        }
    }

    Collection<String> look() throws Exception {
        if (mutex.isAcquiredInThisProcess() || mutex.isOwnedByCurrentThread()) {
            throw new IllegalStateException("the mutex is not held");
        }
        return mutex.getParticipantNodes();
    }
}
