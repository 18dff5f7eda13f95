import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.framework.state.ConnectionState;

/** SharedCount: counter.go is the same in Go. */
class Counter {
    static int raise(CuratorFramework client, int by) throws Exception {
        try (SharedCount count = new SharedCount(client, "/limit", 1)) {
            count.addListener(new SharedCountListener() {
                @Override
                public void countHasChanged(SharedCountReader reader, int newCount) {
                    System.out.println("now " + newCount);
                }

                @Override
                public void stateChanged(CuratorFramework c, ConnectionState state) {
                    // the listener of a Go count hears of values only
                }
            });
            count.start();
            VersionedValue<Integer> seen = count.getVersionedValue();
            while (!count.trySetCount(seen, seen.getValue() + by)) {
                seen = count.getVersionedValue();
            }
            return count.getCount();
        }
    }

    static void set(CuratorFramework client, int to) throws Exception {
        try (SharedCount count = new SharedCount(client, "/limit", 1)) {
            count.start();
            count.setCount(to);
        }
    }
}
