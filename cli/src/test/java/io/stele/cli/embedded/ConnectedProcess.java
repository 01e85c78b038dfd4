package io.stele.cli.embedded;

import io.stele.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A process of an embedded Hadoop for tests: it is connected to an address, again whenever its
 * connection is closed, sends what it is told, and tells what it hears. What is connected to it
 * hears an echo.
 */
public final class ConnectedProcess implements AutoCloseable {
  private static final String SEND = "send ";
  private static final String SEND_MUCH = "send much: ";
  private static final String AGAIN = "connect again";

  private static final int CHUNK_BYTES = 1 << 20;
  private static final int MUCH = 32;

  private final Process process;
  private final Writer to;
  private final BufferedReader from;

  private ConnectedProcess(Process process) {
    this.process = process;
    this.to = process.outputWriter(StandardCharsets.UTF_8);
    this.from = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * Starts one, and returns when it is connected.
   *
   * @param hadoop the directory of the embedded Hadoop that it is one of
   * @param component that it is said to run
   * @param address host:port
   */
  public static ConnectedProcess start(Path hadoop, String component, String address)
      throws IOException {
    return start(hadoop, component, address, Optional.empty());
  }

  /**
   * Starts one that is connected through a SOCKS proxy, and returns when it is connected.
   *
   * @param proxy where that listens, host:port
   */
  public static ConnectedProcess startThrough(
      String proxy, Path hadoop, String component, String address) throws IOException {
    return start(hadoop, component, address, Optional.of(proxy));
  }

  private static ConnectedProcess start(
      Path hadoop, String component, String address, Optional<String> proxy) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC"));
    command.addAll(ChildJvm.SHORT_LIVED);
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            ConnectedProcess.class.getName(),
            address));
    proxy.ifPresent(command::add);
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
    builder.environment().put(ProcessTag.VARIABLE, ProcessTag.of(hadoop).value());
    builder.environment().put("STELE_COMPONENT", component);
    ConnectedProcess started = new ConnectedProcess(builder.start());
    started.expect("connected");
    return started;
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Has it send a line. */
  public void send(String line) throws IOException {
    tell(SEND + line);
  }

  /** Has it send a line, and after it more than the buffers of sockets hold. */
  public void sendMuch(String line) throws IOException {
    tell(SEND_MUCH + line);
  }

  /** Has it close its connection and connect again. */
  public void connectAgain() throws IOException {
    tell(AGAIN);
  }

  /** At which port it listens. */
  public int listeningPort() throws IOException {
    tell("port");
    return Integer.parseInt(next());
  }

  private void tell(String words) throws IOException {
    to.write(words + "\n");
    to.flush();
  }

  /** Waits for the next thing that it tells. */
  public String next() throws IOException {
    return String.valueOf(from.readLine());
  }

  /** Fails unless that is what it tells next. */
  public void expect(String told) throws IOException {
    String next = next();
    if (!next.equals(told)) {
      throw new AssertionError("expected '" + told + "', not '" + next + "'");
    }
  }

  /** Sends a line; fails unless it tells next, in any order, that it was sent and came back. */
  public void expectEcho(String line) throws IOException {
    send(line);
    Set<String> told = Set.of(next(), next());
    if (!told.equals(Set.of("sent", "heard " + line))) {
      throw new AssertionError("expected an echo of '" + line + "', not " + told);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /**
   * The process itself. Arguments: the address, and that of a proxy, if any. It tells at which port
   * it listens when asked.
   */
  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    InetSocketAddress address = parse(args[0]);
    Proxy proxy = args.length > 1 ? new Proxy(Proxy.Type.SOCKS, parse(args[1])) : Proxy.NO_PROXY;
    AtomicReference<Socket> socket = new AtomicReference<>(connect(address, proxy));
    out.println("connected");
    Thread hearing =
        new Thread(
            () -> {
              try {
                while (true) {
                  hear(socket.get(), out);
                  out.println("closed");
                  socket.set(connect(address, proxy));
                  out.println("connected");
                }
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    hearing.setDaemon(true);
    hearing.start();
    try (EchoServer listening = new EchoServer()) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals(AGAIN)) {
          socket.get().close();
        } else if (line.startsWith(SEND_MUCH)) {
          write(socket.get(), line.substring(SEND_MUCH.length()) + "\n");
          for (int i = 0; i < MUCH; i++) {
            write(socket.get(), "-".repeat(CHUNK_BYTES));
          }
          write(socket.get(), "\n");
          out.println("sent");
        } else if (line.startsWith(SEND)) {
          write(socket.get(), line.substring(SEND.length()) + "\n");
          out.println("sent");
        } else {
          out.println(parse(listening.address()).getPort());
        }
      }
    }
  }

  private static InetSocketAddress parse(String address) {
    int colon = address.lastIndexOf(':');
    return new InetSocketAddress(
        address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
  }

  /** Connects; again if a proxy has held that and given it up. */
  private static Socket connect(InetSocketAddress address, Proxy proxy) throws IOException {
    while (true) {
      Socket socket = new Socket(proxy);
      try {
        socket.connect(address);
        return socket;
      } catch (SocketException e) {
        socket.close();
        if (proxy.equals(Proxy.NO_PROXY)) {
          throw e;
        }
      }
    }
  }

  private static void write(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
  }

  private static void hear(Socket socket, PrintStream out) {
    try {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        out.println("heard " + line);
      }
    } catch (IOException e) {
      // It is closed.
    }
  }
}
