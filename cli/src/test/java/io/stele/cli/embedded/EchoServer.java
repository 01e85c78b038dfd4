package io.stele.cli.embedded;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Sends back each line that it hears. Safe for use by any number of threads. */
public final class EchoServer implements AutoCloseable {
  private final ServerSocket door;
  private final List<String> heard = Collections.synchronizedList(new ArrayList<>());
  private final List<Socket> connections = Collections.synchronizedList(new ArrayList<>());

  /** Starts one. */
  public EchoServer() throws IOException {
    door = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    start(
        () -> {
          while (true) {
            Socket accepted = door.accept();
            connections.add(accepted);
            start(() -> echo(accepted));
          }
        });
  }

  private interface Work {
    void run() throws IOException;
  }

  private static void start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                // It is closed.
              }
            });
    thread.setDaemon(true);
    thread.start();
  }

  private void echo(Socket socket) throws IOException {
    try (socket) {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      OutputStream out = socket.getOutputStream();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        heard.add(line);
        out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  /** Where it listens, host:port. */
  public String address() {
    return door.getInetAddress().getHostAddress() + ":" + door.getLocalPort();
  }

  /** What it heard, in order for each connection. */
  public List<String> heard() {
    return List.copyOf(heard);
  }

  /** How many connections it had so far. */
  public int connections() {
    return connections.size();
  }

  /** Closes its connections. */
  public void hangUp() throws IOException {
    for (Socket connection : List.copyOf(connections)) {
      connection.close();
    }
  }

  @Override
  public void close() throws IOException {
    door.close();
    hangUp();
  }
}
