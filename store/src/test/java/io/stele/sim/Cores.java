package io.stele.sim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes threads each of which stays on a core of its own, with all threads that it starts; the next
 * cores in turn where there are more threads. A simulation runs one task at a time, so it loses
 * nothing by it, and a hand-over from thread to thread costs much less.
 *
 * <p>Where there is no {@code taskset} (util-linux), threads run on any core, and only take longer.
 */
final class Cores implements ThreadFactory {
  private static final Path STATUS = Path.of("/proc/thread-self/status");
  private static final String ALLOWED = "Cpus_allowed_list:";

  private final AtomicInteger next = new AtomicInteger();

  @Override
  public Thread newThread(Runnable work) {
    int which = next.getAndIncrement();
    Thread thread =
        new Thread(
            () -> {
              stay(which);
              work.run();
            },
            "histories-" + which);
    thread.setDaemon(true);
    return thread;
  }

  private static void stay(int which) {
    try {
      List<Integer> cores = cores();
      String core = Integer.toString(cores.get(which % cores.size()));
      String thread = Path.of("/proc/thread-self").toRealPath().getFileName().toString();
      new ProcessBuilder("taskset", "-p", "-c", core, thread)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      System.out.println("Histories run on any core: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Those that this process may use. */
  private static List<Integer> cores() throws IOException {
    List<Integer> cores = new ArrayList<>();
    for (String line : Files.readAllLines(STATUS)) {
      if (line.startsWith(ALLOWED)) {
        for (String range : line.substring(ALLOWED.length()).trim().split(",")) {
          String[] ends = range.split("-");
          for (int i = Integer.parseInt(ends[0]);
              i <= Integer.parseInt(ends[ends.length - 1]);
              i++) {
            cores.add(i);
          }
        }
      }
    }
    return cores;
  }
}
