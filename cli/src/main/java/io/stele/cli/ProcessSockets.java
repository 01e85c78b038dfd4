package io.stele.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which TCP sockets a process of this machine has, by what Linux shows below {@code /proc}. Of
 * processes of other users it shows none.
 */
final class ProcessSockets {
  private static final Path PROC = Path.of("/proc");
  private static final List<Path> TABLES =
      List.of(PROC.resolve("net/tcp"), PROC.resolve("net/tcp6"));
  private static final Pattern LINK = Pattern.compile("socket:\\[(\\d+)]");

  // The columns of a table of sockets; addresses are written address:port.
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int INODE = 9;
  private static final int COLUMNS_MIN = 10;

  private ProcessSockets() {}

  /**
   * A socket.
   *
   * @param localPort its port
   * @param remotePort the port at the other end; 0: it listens
   */
  record TcpSocket(int localPort, int remotePort) {
    /** One that listens on {@code port}. */
    static TcpSocket listening(int port) {
      return new TcpSocket(port, 0);
    }

    /** Whether it listens. */
    boolean listens() {
      return remotePort == 0;
    }
  }

  /** Whether this system tells. */
  static boolean areKnown() {
    return Files.isReadable(TABLES.get(0)) && Files.isDirectory(PROC.resolve("self/fd"));
  }

  /**
   * The TCP sockets of a process, over IPv4 and IPv6; none if it has ended.
   *
   * @throws IOException if this system does not tell
   */
  static Set<TcpSocket> of(long pid) throws IOException {
    Set<String> inodes = inodes(pid);
    Set<TcpSocket> found = new HashSet<>();
    for (Path table : TABLES) {
      if (Files.isReadable(table)) { // A system may have no IPv6.
        for (String line : Files.readAllLines(table)) {
          String[] columns = line.strip().split("\\s+");
          if (columns.length >= COLUMNS_MIN && inodes.contains(columns[INODE])) {
            found.add(new TcpSocket(port(columns[LOCAL]), port(columns[REMOTE])));
          }
        }
      }
    }
    return found;
  }

  private static Set<String> inodes(long pid) throws IOException {
    Set<String> inodes = new HashSet<>();
    try (DirectoryStream<Path> all =
        Files.newDirectoryStream(PROC.resolve(Long.toString(pid)).resolve("fd"))) {
      for (Path descriptor : all) {
        Matcher link = LINK.matcher(target(descriptor));
        if (link.matches()) {
          inodes.add(link.group(1));
        }
      }
    } catch (NoSuchFileException e) {
      return Set.of(); // It has ended.
    }
    return inodes;
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return ""; // It was closed meanwhile.
    }
  }

  private static int port(String address) {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1), 16);
  }
}
