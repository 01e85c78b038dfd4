package io.stele.benchmarks;

import io.stele.ChildJvm;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/**
 * Masters and tablet servers as processes, with their logs in one directory. Those that run when
 * this is closed are killed. For one thread.
 */
final class ServerProcesses implements AutoCloseable {
  private static final String LOGGING =
      """
      log4j.rootLogger=INFO, A
      log4j.appender.A=org.apache.log4j.ConsoleAppender
      log4j.appender.A.layout=org.apache.log4j.PatternLayout
      log4j.appender.A.layout.ConversionPattern=%d{ABSOLUTE} %p %c{1}: %m%n
      """;

  private final Path directory;
  private final Path site;
  private final Map<String, Process> running = new LinkedHashMap<>(); // By container.
  private Optional<String> classPath = Optional.empty(); // That of this process.

  /** Writes what all of them read. */
  ServerProcesses(Path directory, Configuration conf) throws IOException {
    this.directory = directory;
    this.site = directory.resolve("stele-site.xml");
    Files.writeString(directory.resolve("log4j.properties"), LOGGING);
    try (OutputStream out = Files.newOutputStream(site)) {
      conf.writeXml(out);
    }
  }

  /** Those started from now on have this class path, or where it is empty that of this process. */
  void use(Optional<String> other) {
    classPath = other;
  }

  /**
   * How many run whose containers begin so.
   *
   * @throws IllegalStateException if one has ended by itself
   */
  int running(String containers) {
    int count = 0;
    for (Map.Entry<String, Process> one : running.entrySet()) {
      if (one.getKey().startsWith(containers)) {
        if (!one.getValue().isAlive()) {
          throw new IllegalStateException(
              one.getKey()
                  + " has ended; "
                  + directory.resolve(one.getKey() + ".log")
                  + " says why");
        }
        count++;
      }
    }
    return count;
  }

  /**
   * Starts one.
   *
   * @param container by which the cluster knows it
   * @param heap the option that says how large its heap is
   */
  void start(String container, Class<?> main, String heap) throws IOException {
    start(container, main, List.of(heap, "-XX:MaxDirectMemorySize=512m", "-XX:+UseParallelGC"));
  }

  /** As above, with all of Java's options. */
  void start(String container, Class<?> main, List<String> memory) throws IOException {
    List<String> options = new ArrayList<>(memory);
    options.add("-Dlog4j.configuration=file:" + directory.resolve("log4j.properties"));
    String path = classPath.orElseGet(() -> ChildJvm.classPath(main.getClassLoader()));
    running.put(
        container,
        ChildJvm.start(
            path,
            options,
            main,
            List.of(),
            Map.of(
                "STELE_CONF", site.toString(), "CONTAINER_ID", container, "NM_HOST", "localhost"),
            directory.resolve(container + ".log")));
  }

  /** The system's number of one. */
  long pid(String container) {
    return Objects.requireNonNull(running.get(container)).pid();
  }

  /** Kills one, as kill -9 does, and returns when it has ended. */
  void kill(String container) throws InterruptedException {
    Objects.requireNonNull(running.remove(container)).destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    running.values().forEach(Process::destroyForcibly);
  }
}
