import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.CachedAtomicLong;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.retry.RetryNTimes;

/** DistributedAtomicLong and its like: atomic.go is the same in Go. */
class Atomic {
    static long hit(CuratorFramework client) throws Exception {
        PromotedToLock lock = PromotedToLock.builder().lockPath("/locks/hits").timeout(10, TimeUnit.SECONDS)
                .retryPolicy(new RetryNTimes(5, 10)).build();
        DistributedAtomicLong hits = new DistributedAtomicLong(client, "/hits", new ExponentialBackoffRetry(10, 3), lock);
        AtomicValue<Long> result = hits.increment();
        if (!result.succeeded()) {
            throw new IllegalStateException("not counted");
        }
        return result.postValue();
    }

    static boolean correct(CuratorFramework client, int from, int to) throws Exception {
        DistributedAtomicInteger open = new DistributedAtomicInteger(client, "/open", new RetryNTimes(3, 10));
        open.initialize(0);
        return open.compareAndSet(from, to).succeeded();
    }

    static void reset(CuratorFramework client) throws Exception {
        new DistributedAtomicInteger(client, "/open", new RetryNTimes(3, 10)).forceSet(0);
    }

    static long[] number(CuratorFramework client, int many) throws Exception {
        DistributedAtomicLong numbers = new DistributedAtomicLong(client, "/numbers", new RetryNTimes(3, 10));
        CachedAtomicLong block = new CachedAtomicLong(numbers, 100);
        long[] given = new long[many];
        for (int i = 0; i < many; i++) {
            AtomicValue<Long> next = block.next();
            if (!next.succeeded()) {
                throw new IllegalStateException("no block");
            }
            given[i] = next.preValue();
        }
        return given;
    }
}
