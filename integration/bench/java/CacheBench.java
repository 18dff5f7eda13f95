import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Fills Java Curator's cache and listens to it. The protocol is described in ../job/cache.go. */
public final class CacheBench {
    private static final Gson GSON = new Gson();
    private static final long PATIENCE_MINUTES = 3;

    /** What is to be done. */
    static final class Job {
        String server;
        String path;
        int fills;
        long session;
    }

    /** The last change. */
    static final class End {
        long last;
    }

    /** One cache with a client of its own. */
    static final class Follower {
        private final CuratorFramework client;
        private final CuratorCache cache;
        private final CountDownLatch full = new CountDownLatch(1);
        private final List<Long> stamps = new ArrayList<>();
        private final List<Long> heard = new ArrayList<>();
        private volatile long fullAt;

        Follower(Job job) throws Exception {
            client = CuratorFrameworkFactory.builder()
                    .connectString(job.server)
                    .sessionTimeoutMs((int) (job.session / 1_000_000))
                    .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                    .build();
            client.start();
            if (!client.blockUntilConnected(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("not connected");
            }
            cache = CuratorCache.build(client, job.path);
            cache.listenable().addListener(CuratorCacheListener.builder()
                    .forChanges(this::changed)
                    .forInitialized(this::initialized)
                    .build());
        }

        private void initialized() {
            fullAt = System.nanoTime();
            full.countDown();
        }

        private synchronized void changed(ChildData before, ChildData now) {
            long at = System.nanoTime();
            stamps.add(Long.parseLong(new String(now.getData(), StandardCharsets.US_ASCII).trim()));
            heard.add(at);
            notifyAll();
        }

        /** Returns how long it took until the cache was full. */
        long fill() throws Exception {
            long begun = System.nanoTime();
            cache.start();
            if (!full.await(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
                throw new IllegalStateException("not full");
            }
            return fullAt - begun;
        }

        synchronized void await(long last) throws Exception {
            long limit = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
            while (stamps.isEmpty() || stamps.get(stamps.size() - 1) != last) {
                long left = TimeUnit.NANOSECONDS.toMillis(limit - System.nanoTime());
                if (left <= 0) {
                    throw new IllegalStateException("no event of the last change");
                }
                wait(left);
            }
        }

        void close() {
            cache.close();
            client.close();
        }
    }

    /** The heap in use, after collections that find what only finalizers and references kept. */
    private static long used() throws Exception {
        Runtime runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(50);
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }

    private static void say(Object line) {
        System.out.println(GSON.toJson(line));
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Job job = GSON.fromJson(in.readLine(), Job.class);
        List<Long> took = new ArrayList<>();
        Follower follower = null;
        Map<String, Object> full = new LinkedHashMap<>();
        for (int i = 0; i < job.fills; i++) {
            if (follower != null) {
                follower.close();
                follower = null;
            }
            long before = used();
            follower = new Follower(job);
            took.add(follower.fill());
            full.put("memory", used() - before);
        }
        full.put("took", took);
        full.put("nodes", follower.cache.size());
        say(full);
        End end = GSON.fromJson(in.readLine(), End.class);
        follower.await(end.last);
        Map<String, Object> events = new LinkedHashMap<>();
        synchronized (follower) {
            events.put("stamps", follower.stamps);
            events.put("heard", follower.heard);
        }
        say(events);
        follower.close();
        System.exit(0);
    }
}
