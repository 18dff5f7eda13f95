import java.util.Collection;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;

/** Curator's elections as contenders of the driver: to acquire is to lead. */
final class Elections {
    private Elections() {}

    static final class Latch extends Election {
        private final CuratorFramework client;
        private final String path;
        private LeaderLatch latch;

        Latch(Driver.Order order, CuratorFramework client) {
            super(order);
            this.client = client;
            path = order.path;
        }

        @Override
        void stand() throws Exception {
            if (latch != null) {
                return;
            }
            LeaderLatch made = new LeaderLatch(client, path, id);
            made.addListener(new LeaderLatchListener() {
                @Override
                public void isLeader() {
                    began(Driver.name(looked(made)));
                }

                @Override
                public void notLeader() {
                    ended();
                }
            });
            made.start();
            latch = made;
        }

        /** The node on which the latch leads. getOurPath, all that Curator has before 5.3, may name a newer one. */
        private static String looked(LeaderLatch latch) {
            try {
                return (String) LeaderLatch.class.getMethod("getLastPathIsLeader").invoke(latch);
            } catch (ReflectiveOperationException e) {
                return latch.getOurPath();
            }
        }

        @Override
        void leave() throws Exception {
            if (latch != null) {
                latch.close();
                latch = null;
            }
        }

        @Override
        boolean leads() {
            return latch != null && latch.hasLeadership();
        }

        /** One that does not stand for election may ask, too. */
        private LeaderLatch any() {
            return latch == null ? new LeaderLatch(client, path, id) : latch;
        }

        @Override
        Collection<Participant> participants() throws Exception {
            return any().getParticipants();
        }

        @Override
        Participant leader() throws Exception {
            return any().getLeader();
        }
    }

    /** One thread, and how many tasks it has, begun or not. */
    private static final class Tasks extends ThreadPoolExecutor {
        private final AtomicInteger tasks = new AtomicInteger();

        Tasks() {
            super(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Driver::daemon);
        }

        @Override
        public void execute(Runnable task) {
            tasks.incrementAndGet();
            super.execute(task);
        }

        @Override
        protected void afterExecute(Runnable task, Throwable thrown) {
            tasks.decrementAndGet();
        }

        boolean none() {
            return tasks.get() == 0;
        }
    }

    static final class Selector extends Election {
        private final CuratorFramework client;
        private final String path;
        private final Semaphore resigns = new Semaphore(0);
        private LeaderSelector selector;
        private Tasks tasks;
        private boolean started;

        Selector(Driver.Order order, CuratorFramework client) {
            super(order);
            this.client = client;
            path = order.path;
            selector = make();
        }

        private LeaderSelector make() {
            started = false;
            tasks = new Tasks();
            LeaderSelector made = new LeaderSelector(client, path, tasks, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework c) throws Exception {
                    resigns.drainPermits();
                    began(node());
                    try {
                        resigns.acquire();
                    } finally {
                        ended();
                    }
                }
            });
            made.setId(id);
            return made;
        }

        /** The node of the leader, which Curator keeps to itself. */
        private String node() throws Exception {
            var field = LeaderSelector.class.getDeclaredField("mutex");
            field.setAccessible(true);
            return Driver.nodeOf((InterProcessMutex) field.get(selector));
        }

        /** A term, and an election that failed, are followed by another one only if it is asked for. */
        @Override
        void stand() {
            if (!started) {
                started = true;
                selector.start(); // which queues it
            }
            if (tasks.none()) { // up to 5.4 a task would be queued behind the one that runs
                selector.requeue();
            }
        }

        @Override
        void leave() throws Exception {
            if (!selector.hasLeadership()) {
                if (started) {
                    selector.close();
                    tasks.shutdown();
                    selector = make();
                }
                return;
            }
            resigns.release();
            while (selector.hasLeadership()) {
                Thread.sleep(1);
            }
        }

        @Override
        boolean leads() {
            return selector.hasLeadership();
        }

        @Override
        Collection<Participant> participants() throws Exception {
            return selector.getParticipants();
        }

        @Override
        Participant leader() throws Exception {
            return selector.getLeader();
        }
    }
}
