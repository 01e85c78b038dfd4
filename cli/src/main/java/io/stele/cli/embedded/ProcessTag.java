package io.stele.cli.embedded;

import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * What all processes of one embedded Hadoop have in their environment, so that they can be found
 * whatever became of their parents.
 *
 * <p>Containers outlive a NodeManager that is killed: nothing but their environment then tells
 * where they came from. The tag is made of the work directory, so that the next start there finds
 * what the last one left.
 *
 * @param value unique for a work directory
 */
record ProcessTag(String value) {
  /** The environment variable. */
  static final String VARIABLE = "STELE_EMBEDDED_HADOOP";

  private static final Path PROC = Path.of("/proc");
  private static final Duration LOOK_EVERY = Duration.ofMillis(20);

  /** The tag of all that runs in {@code directory}. */
  static ProcessTag of(Path directory) {
    try {
      byte[] path =
          directory.toAbsolutePath().normalize().toString().getBytes(StandardCharsets.UTF_8);
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(path);
      return new ProcessTag("stele-" + HexFormat.of().formatHex(digest, 0, 8));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e); // Every Java has it.
    }
  }

  /** The processes that carry this tag; this JVM is never one of them. */
  List<TaggedProcess> processes() {
    return Files.isReadable(PROC.resolve("self").resolve("environ")) ? ofProc() : ofPs();
  }

  /**
   * Kills the processes that carry this tag, again and again until none is left: one that is being
   * killed may just have started another.
   *
   * @return how many there were
   * @throws IOException if some were still there after {@code timeout}
   */
  int sweep(Duration timeout) throws IOException {
    Deadline deadline = Deadline.after(SystemRuntime.INSTANCE, timeout);
    int killed = 0;
    while (true) {
      List<TaggedProcess> left = processes();
      if (left.isEmpty()) {
        return killed;
      }
      if (deadline.isOver()) {
        throw new IOException(
            "cannot end these processes of an embedded Hadoop: "
                + left.stream().map(TaggedProcess::pid).toList());
      }
      left.forEach(TaggedProcess::kill);
      killed += left.size();
      try {
        SystemRuntime.INSTANCE.sleep(LOOK_EVERY);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "ending an embedded Hadoop");
      }
    }
  }

  private List<TaggedProcess> ofProc() {
    byte[] entry = (VARIABLE + "=" + value).getBytes(StandardCharsets.UTF_8);
    List<TaggedProcess> found = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path process : all) {
        byte[] environment = read(process.resolve("environ"));
        if (indexOf(environment, entry) >= 0) {
          long pid = Long.parseLong(process.getFileName().toString());
          Map<String, String> variables = variables(environment);
          // The text may also be in the value of another variable.
          if (value.equals(variables.get(VARIABLE))
              && pid != ProcessHandle.current().pid()
              && !isZombie(process)) {
            String command =
                new String(read(process.resolve("cmdline")), StandardCharsets.UTF_8)
                    .replace('\0', ' ')
                    .strip();
            found.add(new TaggedProcess(pid, variables, command));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list " + PROC, e);
    }
    return found;
  }

  // A process that has ended, or is another user's, has nothing to read: it is none of ours.
  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      return new byte[0];
    }
  }

  private static boolean isZombie(Path process) {
    String stat = new String(read(process.resolve("stat")), StandardCharsets.UTF_8);
    int name = stat.lastIndexOf(')');
    return name < 0 || stat.startsWith(" Z", name + 1);
  }

  private static Map<String, String> variables(byte[] environment) {
    Map<String, String> variables = new HashMap<>();
    for (String variable : new String(environment, StandardCharsets.UTF_8).split("\0")) {
      int equals = variable.indexOf('=');
      if (equals > 0) {
        variables.put(variable.substring(0, equals), variable.substring(equals + 1));
      }
    }
    return variables;
  }

  private static int indexOf(byte[] text, byte[] part) {
    ByteBuffer sought = ByteBuffer.wrap(part);
    for (int at = 0; at + part.length <= text.length; at++) {
      if (text[at] == part[0] && ByteBuffer.wrap(text, at, part.length).equals(sought)) {
        return at;
      }
    }
    return -1;
  }

  // Where there is no /proc (macOS), ps appends the environment to the command line of one's own
  // processes.
  private List<TaggedProcess> ofPs() {
    List<TaggedProcess> found = new ArrayList<>();
    try {
      Process ps =
          new ProcessBuilder("ps", "axeww", "-o", "pid=,command=")
              .redirectErrorStream(true)
              .start();
      ps.getOutputStream().close();
      for (String line :
          new String(ps.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
        if (line.contains(VARIABLE + "=" + value)) {
          String[] parts = line.strip().split(" +", 2);
          long pid = Long.parseLong(parts[0]);
          if (pid != ProcessHandle.current().pid()) {
            String component = " STELE_COMPONENT=";
            int at = parts[1].indexOf(component);
            Map<String, String> variables =
                at < 0
                    ? Map.of()
                    : Map.of(
                        "STELE_COMPONENT",
                        parts[1].substring(at + component.length()).split(" ", 2)[0]);
            found.add(new TaggedProcess(pid, variables, parts[1]));
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot run ps to find the processes of an embedded Hadoop", e);
    }
    return found;
  }
}
