import java.util.ArrayList;
import java.util.List;
import org.apache.curator.RetryPolicy;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicNumber;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.retry.RetryForever;
import org.apache.curator.retry.RetryNTimes;

/** Curator's atomic numbers as contenders of the driver. */
final class Counters {
    private Counters() {}

    /** Three tries without the lock, if there is one; as many as it takes otherwise. */
    private static RetryPolicy optimistic(Driver.Order order) {
        return order.count == null ? new RetryForever(1) : new RetryNTimes(2, 1);
    }

    /** Those that do not queue pass the lock, so it takes several tries, too. */
    private static PromotedToLock promoted(Driver.Order order) {
        return order.count == null
                ? null
                : PromotedToLock.builder().lockPath(order.count).retryPolicy(new RetryForever(1)).build();
    }

    /** What both kinds have in common. */
    abstract static class Counter<N extends Number> extends Driver.Contender {
        private final DistributedAtomicNumber<N> number;

        Counter(Driver.Order order, DistributedAtomicNumber<N> number) {
            super(order.who);
            this.number = number;
        }

        abstract N of(long value);

        @Override
        void obey(Driver.Order order, Driver.Answer a) throws Exception {
            switch (order.op) {
                case "value" -> answer(number.get(), a);
                case "add" -> answer(number.add(of(order.value)), a);
                case "setvalue" -> number.forceSet(of(order.value));
                case "compareandset" -> answer(number.compareAndSet(of(order.old), of(order.value)), a);
                case "initialize" -> a.ok = number.initialize(of(order.value));
                case "work" -> count(order, a);
                default -> throw new IllegalArgumentException("unknown order " + order.op);
            }
        }

        private void answer(AtomicValue<N> value, Driver.Answer a) {
            a.ok = value.succeeded();
            a.value = value.postValue().longValue();
        }

        /** Increments many times, and answers with what came out each time, and how often it took the lock. */
        private void count(Driver.Order order, Driver.Answer a) throws Exception {
            a.values = new ArrayList<>();
            while (a.values.size() < order.times) {
                AtomicValue<N> value = number.increment();
                if (value.succeeded()) {
                    a.values.add(value.postValue().longValue());
                    a.value += value.getStats().getPromotedLockTries() > 0 ? 1 : 0;
                }
            }
        }

        @Override
        List<String> acquire(Driver.Order order) {
            throw new IllegalArgumentException("a number is not acquired");
        }

        @Override
        void release(Driver.Order order) {
            throw new IllegalArgumentException("a number is not released");
        }
    }

    static final class OfLongs extends Counter<Long> {
        OfLongs(Driver.Order order, CuratorFramework client) {
            super(
                    order,
                    order.count == null
                            ? new DistributedAtomicLong(client, order.path, optimistic(order))
                            : new DistributedAtomicLong(client, order.path, optimistic(order), promoted(order)));
        }

        @Override
        Long of(long value) {
            return value;
        }
    }

    static final class OfIntegers extends Counter<Integer> {
        OfIntegers(Driver.Order order, CuratorFramework client) {
            super(
                    order,
                    order.count == null
                            ? new DistributedAtomicInteger(client, order.path, optimistic(order))
                            : new DistributedAtomicInteger(client, order.path, optimistic(order), promoted(order)));
        }

        @Override
        Integer of(long value) {
            return (int) value;
        }
    }
}
