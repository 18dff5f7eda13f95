import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Takes locks with Java Curator. The protocol, and what is written down, are described in ../job/job.go. */
public final class Bench {
    private static final Gson GSON = new Gson();

    /** What is to be done. */
    static final class Job {
        String lock;
        String server;
        String path;
        boolean own;
        int first;
        int workers;
        boolean clients;
        int limit;
        long hold;
        long warmup;
        long session;
        int record;
    }

    /** What is measured. */
    static final class Window {
        long start;
        long end;
    }

    /** One side of a lock. */
    interface Acquire {
        Release acquire() throws Exception;
    }

    /** Undoes an acquire. */
    interface Release {
        void release() throws Exception;
    }

    private static volatile Window window;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = System.out;
        Job job = GSON.fromJson(in.readLine(), Job.class);
        List<CuratorFramework> clients = new ArrayList<>();
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < job.workers; i++) {
            if (i == 0 || job.clients) {
                clients.add(connect(job));
            }
            String path = job.own ? job.path + "/" + (job.first + i) : job.path;
            workers.add(new Worker(job, job.first + i, lock(clients.get(clients.size() - 1), job, path)));
        }
        for (Worker worker : workers) {
            worker.start();
        }
        Thread.sleep(job.warmup / 1_000_000);
        GSON.fromJson("{}", Window.class); // the first time takes long
        out.println("{\"ready\":true}");
        out.flush();
        window = GSON.fromJson(in.readLine(), Window.class);
        boolean late = System.nanoTime() >= window.start;
        StringBuilder answer = new StringBuilder("{\"late\":").append(late).append(",\"workers\":[");
        String comma = "";
        for (Worker worker : workers) {
            worker.join();
            answer.append(comma);
            worker.tell(answer);
            comma = ",";
        }
        out.println(answer.append("]}"));
        out.flush();
        in.readLine(); // the times of the process are read until its input ends
        for (CuratorFramework client : clients) {
            client.close();
        }
        System.exit(0);
    }

    private static CuratorFramework connect(Job job) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(job.server)
                .sessionTimeoutMs((int) (job.session / 1_000_000))
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .build();
        client.start();
        if (!client.blockUntilConnected(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not connected");
        }
        return client;
    }

    /**
     * The two sides of a lock: who reads, and who writes. Most locks have but one. Each thread has an object of its own: one
     * for all would be much slower, since each release wakes all threads that wait in it, and each of them asks the server.
     */
    private static Acquire[] lock(CuratorFramework client, Job job, String path) {
        switch (job.lock) {
            case "mutex":
                return one(held(new InterProcessMutex(client, path)));
            case "semmutex":
                return one(held(new InterProcessSemaphoreMutex(client, path)));
            case "semaphore":
                InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, job.limit);
                return one(() -> {
                    Lease lease = semaphore.acquire();
                    return () -> semaphore.returnLease(lease);
                });
            default:
                InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
                Acquire read = held(lock.readLock());
                Acquire write = held(lock.writeLock());
                return job.lock.equals("read") ? one(read) : job.lock.equals("write") ? one(write) : new Acquire[] {read, write};
        }
    }

    private static Acquire[] one(Acquire side) {
        return new Acquire[] {side, side};
    }

    private static Acquire held(InterProcessLock lock) {
        return () -> {
            lock.acquire();
            return lock::release;
        };
    }

    /** Takes its lock again and again, until the window has passed. */
    static final class Worker extends Thread {
        private static final int STAMPED = 5;

        private final Job job;
        private final int number;
        private final Acquire[] sides;
        private long[] stamps = new long[STAMPED * 1024];
        private int filled;
        private long acquired;
        private long errors;
        private String error;
        private long full;

        Worker(Job job, int number, Acquire[] sides) {
            this.job = job;
            this.number = number;
            this.sides = sides;
        }

        private static boolean over() {
            Window w = window;
            return w != null && System.nanoTime() >= w.end;
        }

        @Override
        public void run() {
            for (int n = 0; !over(); n++) {
                int side = (n + 7 * number) % 20 == 0 ? 1 : 0;
                long called = System.nanoTime();
                Release release = null;
                while (release == null) {
                    try {
                        release = sides[side].acquire();
                    } catch (Exception e) {
                        failed(e);
                        LockSupport.parkNanos(1_000_000);
                        if (over()) {
                            return;
                        }
                    }
                }
                long got = System.nanoTime();
                if (job.hold > 0) {
                    LockSupport.parkNanos(job.hold);
                }
                long releasing = System.nanoTime();
                try {
                    release.release();
                } catch (Exception e) {
                    failed(e);
                }
                note(called, got, releasing, System.nanoTime(), side);
            }
        }

        private void failed(Exception e) {
            if (window == null) {
                return;
            }
            errors++;
            if (error == null) {
                error = e.toString();
            }
        }

        private void note(long called, long got, long releasing, long released, int side) {
            Window w = window;
            if (w == null || got < w.start || called >= w.end) {
                return;
            }
            if (got < w.end) {
                acquired++;
            }
            if (filled >= STAMPED * job.record) {
                full = full == 0 ? got - w.start : full;
                return;
            }
            if (filled == stamps.length) {
                stamps = Arrays.copyOf(stamps, 2 * stamps.length);
            }
            stamps[filled++] = called - w.start;
            stamps[filled++] = got - w.start;
            stamps[filled++] = releasing - w.start;
            stamps[filled++] = released - w.start;
            stamps[filled++] = side;
        }

        void tell(StringBuilder out) {
            out.append("{\"number\":").append(number).append(",\"acquired\":").append(acquired);
            out.append(",\"errors\":").append(errors).append(",\"full\":").append(full);
            if (error != null) {
                out.append(",\"error\":").append(GSON.toJson(error));
            }
            out.append(",\"stamps\":[");
            for (int i = 0; i < filled; i++) {
                out.append(i == 0 ? "" : ",").append(stamps[i]);
            }
            out.append("]}");
        }
    }
}
