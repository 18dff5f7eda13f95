import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.InputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.RequestHeader;
import org.apache.zookeeper.server.ByteBufferInputStream;
import org.apache.zookeeper.server.NIOServerCnxn;
import org.apache.zookeeper.server.NIOServerCnxnFactory;

/**
 * ZooKeeper's own connections, but with threads that stand still between reading a create and queueing it.
 *
 * <p>A directory below /stalled/create/N or /stalled/multi/N, N being a number of milliseconds, has its first create of
 * an ephemeral node stalled: the first one by itself, or the first one in a transaction. The server closes its side of
 * the connection, as if the network had, and the thread stands still. It goes on N milliseconds after the next such
 * create in the directory was queued: so the stalled one is executed later than that, however slow the machine is. A
 * create that no other one follows within LIMIT seconds goes on then.
 */
public final class StalledCreates extends NIOServerCnxnFactory {
    private static final Pattern DIRECTORY = Pattern.compile("(/stalled/[a-z]+/(\\d+)/.+)/[^/]+");
    private static final long LIMIT = 20;

    /** A latch for each directory, which its second create opens. */
    private final Map<String, CountDownLatch> directories = new ConcurrentHashMap<>();

    @Override
    protected NIOServerCnxn createConnection(SocketChannel socket, SelectionKey key, SelectorThread selector)
            throws IOException {
        return new Connection(socket, key, selector);
    }

    private final class Connection extends NIOServerCnxn {
        private final SocketChannel socket;

        Connection(SocketChannel socket, SelectionKey key, SelectorThread selector) throws IOException {
            super(zkServer, socket, key, StalledCreates.this, selector);
            this.socket = socket;
        }

        @Override
        protected void readRequest() throws IOException {
            Matcher stalled = DIRECTORY.matcher(stallable(incomingBuffer.duplicate()));
            if (!stalled.matches()) {
                super.readRequest();
                return;
            }
            CountDownLatch second = new CountDownLatch(1);
            CountDownLatch earlier = directories.putIfAbsent(stalled.group(1), second);
            if (earlier == null) {
                socket.shutdownOutput();
                standStill(second, Long.parseLong(stalled.group(2)));
            }
            super.readRequest();
            if (earlier != null) {
                earlier.countDown();
            }
        }
    }

    private static void standStill(CountDownLatch second, long milliseconds) {
        try {
            if (second.await(LIMIT, TimeUnit.SECONDS)) {
                Thread.sleep(milliseconds);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the server ends
        }
    }

    /** The path of the ephemeral node that a request creates below the root for its kind, or nothing. */
    private static String stallable(ByteBuffer frame) throws IOException {
        InputArchive in = BinaryInputArchive.getArchive(new ByteBufferInputStream(frame));
        RequestHeader header = new RequestHeader();
        header.deserialize(in, "header");
        switch (header.getType()) {
            case OpCode.create:
            case OpCode.create2:
                CreateRequest create = new CreateRequest();
                create.deserialize(in, "create");
                return isEphemeral(create) && create.getPath().startsWith("/stalled/create/") ? create.getPath() : "";
            case OpCode.multi:
                MultiOperationRecord parts = new MultiOperationRecord();
                parts.deserialize(in, "multi");
                for (Op part : parts) {
                    Record request = part.toRequestRecord();
                    if (request instanceof CreateRequest && isEphemeral((CreateRequest) request)) {
                        return part.getPath().startsWith("/stalled/multi/") ? part.getPath() : "";
                    }
                }
                return "";
            default:
                return "";
        }
    }

    private static boolean isEphemeral(CreateRequest create) {
        return CreateMode.fromFlag(create.getFlags(), CreateMode.PERSISTENT).isEphemeral();
    }
}
