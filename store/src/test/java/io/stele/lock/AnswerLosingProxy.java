package io.stele.lock;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a ZooKeeper client and its server. When told, it lets one request through, waits
 * for its answer, and breaks the connection instead of passing it on; or it accepts a connection
 * and never answers.
 */
final class AnswerLosingProxy implements AutoCloseable {
  private static final int PING = -2;

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int target;
  private final AtomicBoolean armed = new AtomicBoolean();
  private final AtomicInteger lost = new AtomicInteger();
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
      while (true) {
        byte[] request = in.readNBytes(in.readInt());
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
        if (connected && answer[3] != (byte) PING && armed.compareAndSet(true, false)) {
          lost.incrementAndGet();
          return;
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
