import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;

/** InterProcessSemaphoreMutex: semaphore_mutex.go is the same in Go. */
class SemaphoreMutex {
    private final InterProcessSemaphoreMutex mutex;

    SemaphoreMutex(CuratorFramework client) {
        mutex = new InterProcessSemaphoreMutex(client, "/locks/single");
    }

    /** Acquires on this thread, and releases on another. */
    Thread handedOn(Runnable work) throws Exception {
        mutex.acquire();
        Thread thread = new Thread(() -> {
            try {
                work.run();
                mutex.release();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        return thread;
    }

    /** It is not reentrant: an owner that acquires it again deadlocks. */
    boolean twice() throws Exception {
        mutex.acquire();
        try {
            return mutex.isAcquiredInThisProcess() && mutex.acquire(1, TimeUnit.SECONDS);
        } finally {
            mutex.release();
        }
    }
}
