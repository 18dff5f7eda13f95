import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.recipes.leader.Participant;

/**
 * One participant of an election. A term begins when Curator calls back, and ends when Curator calls back or the
 * participant resigns, whichever is first. The events acquired and released report both.
 */
abstract class Election extends Driver.Contender {
    /** How long the driver's work waits to lead before it stands for election again. */
    private static final long PATIENCE_MS = 20_000;

    final String id;
    private List<String> term; // the nodes of the present term, if there is one; guarded by this

    Election(Driver.Order order) {
        super(order.who);
        id = order.data == null ? order.who : order.data;
    }

    /** Stands for election, unless it does so already. */
    abstract void stand() throws Exception;

    /** Leaves the election, leading or not. */
    abstract void leave() throws Exception;

    /** What Curator says without asking the server. */
    abstract boolean leads();

    abstract Collection<Participant> participants() throws Exception;

    abstract Participant leader() throws Exception;

    synchronized void began(String node) {
        term = List.of(node);
        Driver.event("acquired", who, System.nanoTime(), term, null);
        notifyAll();
    }

    synchronized void ended() {
        if (term != null) {
            Driver.event("released", who, System.nanoTime(), term, null);
            term = null;
        }
    }

    /** Waits for a term; null if the time is up. */
    private List<String> await(long ms) throws Exception {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        while (true) {
            synchronized (this) {
                if (term != null) {
                    return term;
                }
                if (ms >= 0 && System.nanoTime() - end > 0) {
                    return null;
                }
            }
            stand();
            synchronized (this) {
                if (term == null) {
                    wait(50);
                }
            }
        }
    }

    @Override
    List<String> acquire(Driver.Order order) throws Exception {
        List<String> nodes = await(order.ms);
        if (nodes == null) {
            leave();
        }
        return nodes;
    }

    @Override
    void release(Driver.Order order) throws Exception {
        ended();
        leave();
    }

    @Override
    void report(Driver.Answer a) throws Exception {
        a.acquired = leads();
        a.ended = System.nanoTime();
        a.ids = new ArrayList<>();
        for (Participant p : participants()) {
            a.ids.add(p.getId());
        }
        a.owned = !a.ids.isEmpty() && leader().getId().equals(a.ids.get(0));
    }

    /** Leads many times. After the loss of a term the same participant stands again. */
    @Override
    void work(Driver.Order order) throws Exception {
        for (int i = 0; i < order.times; i++) {
            do {
                if (await(PATIENCE_MS) == null) {
                    Driver.event("missed", who, System.nanoTime(), null, null);
                    break;
                }
            } while (!hold(order.hold / 1000));
            ended();
            leave();
            LockSupport.parkNanos(order.pause * 1000);
        }
    }

    /** Leads, and checks each millisecond that it still does. */
    private boolean hold(long ms) {
        for (long i = 0; i < ms; i++) {
            LockSupport.parkNanos(1_000_000);
            synchronized (this) {
                if (term == null) {
                    return false;
                }
            }
        }
        return true;
    }
}
