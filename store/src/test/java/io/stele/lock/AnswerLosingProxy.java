package io.stele.lock;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a ZooKeeper client and its server. When told, it lets one request through, waits
 * for its answer, and breaks the connection instead of passing it on; or it is, to one connection,
 * a server whose leader the others have left: that answers reads from the past, and can change
 * nothing; or it accepts a connection and never answers.
 */
final class AnswerLosingProxy implements AutoCloseable {
  private static final int PING = -2;
  private static final int NO_TYPE = 0;
  private static final int GET_DATA = 4;

  /** Of requests: create, delete, set, and several at once. */
  private static final Set<Integer> CHANGES = Set.of(1, 2, 5, 14);

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int target;
  private final AtomicBoolean armed = new AtomicBoolean();
  private final AtomicInteger lost = new AtomicInteger();
  private final AtomicBoolean deposed = new AtomicBoolean();
  private final Set<Integer> reads = ConcurrentHashMap.newKeySet(); // Under way, by their ids.
  private volatile byte[] lastRead = {};
  private final AtomicBoolean ignoring = new AtomicBoolean();
  private final Queue<Socket> ignored = new ConcurrentLinkedQueue<>(); // Or they would be closed.

  AnswerLosingProxy(int target) throws IOException {
    this.target = target;
    start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  void loseNextAnswer() {
    armed.set(true);
  }

  /**
   * From now on the connection that is there is to a deposed leader: it answers {@code sync}, reads
   * as it answered the last one, and breaks at a change. Later connections are to the true one.
   */
  void depose() {
    deposed.set(true);
  }

  /** Whether the deposed leader was asked for a change, or a barrier, which it could not make. */
  boolean wasFoundDeposed() {
    return !deposed.get();
  }

  /** Accepts the next connection, and never answers it. */
  void ignoreNextConnection() {
    ignoring.set(true);
  }

  int ignored() {
    return ignored.size();
  }

  int lost() {
    return lost.get();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }

  private void accept() {
    while (true) {
      try {
        Socket client = listener.accept();
        if (ignoring.compareAndSet(true, false)) {
          ignored.add(client);
          continue;
        }
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        start(() -> requests(client, server));
        start(() -> answers(client, server));
      } catch (IOException e) {
        return; // Closed.
      }
    }
  }

  private void requests(Socket client, Socket server) {
    try (client;
        server;
        DataInputStream in = new DataInputStream(client.getInputStream());
        DataOutputStream out = new DataOutputStream(server.getOutputStream())) {
      boolean connected = false;
      while (true) {
        byte[] request = in.readNBytes(in.readInt());
        ByteBuffer header = ByteBuffer.wrap(request);
        int id = header.getInt();
        int type = connected ? header.getInt() : NO_TYPE; // The first one is the session's.
        connected = true;
        if (type == GET_DATA) {
          reads.add(id);
        }
        if (CHANGES.contains(type) && deposed.compareAndSet(true, false)) {
          return;
        }
        out.writeInt(request.length);
        out.write(request);
        out.flush();
      }
    } catch (IOException e) {
      return; // Either end has gone, and the other goes with it.
    }
  }

  private void answers(Socket client, Socket server) {
    try (client;
        server;
        DataInputStream in = new DataInputStream(server.getInputStream());
        DataOutputStream out = new DataOutputStream(client.getOutputStream())) {
      boolean connected = false;
      while (true) {
        byte[] answer = in.readNBytes(in.readInt());
        // The first one is the session's; pings are nobody's request.
        int id = ByteBuffer.wrap(answer).getInt();
        if (connected && id != PING && armed.compareAndSet(true, false)) {
          lost.incrementAndGet();
          return;
        }
        if (connected && reads.remove(id)) {
          if (deposed.get()) {
            answer = lastRead.clone();
            ByteBuffer.wrap(answer).putInt(id);
          } else {
            lastRead = answer;
          }
        }
        connected = true;
        out.writeInt(answer.length);
        out.write(answer);
        out.flush();
      }
    } catch (IOException e) {
      return; // Either end has gone, and the other goes with it.
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "answer-losing-proxy");
    thread.setDaemon(true);
    thread.start();
  }
}
