package io.stele.sim;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Makes threads each of which stays on a core of its own, with all threads that it starts; the next
 * cores in turn where there are more threads. {@link One} has the tests of a class stay on one. A
 * simulation runs one task at a time, so it loses nothing by it, and a hand-over from thread to
 * thread costs much less.
 *
 * <p>Where there is no {@code taskset} (util-linux), threads run on any core, and only take longer.
 */
public final class Cores implements ThreadFactory {
  private static final Path STATUS = Path.of("/proc/thread-self/status");
  private static final String ALLOWED = "Cpus_allowed_list:";
  private static final List<Integer> ALL = cores();
  private static final int FORK = Integer.getInteger("test.fork", 1) - 1;

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

  /** Makes this thread, and all that it starts, stay on a core. */
  private static void stay(int which) {
    List<Integer> cores = ALL;
    if (!cores.isEmpty()) {
      moveTo(Integer.toString(cores.get(which % cores.size())));
    }
  }

  private static void moveTo(String cores) {
    try {
      String thread = Path.of("/proc/thread-self").toRealPath().getFileName().toString();
      new ProcessBuilder("taskset", "-p", "-c", cores, thread)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      System.out.println("Simulations run on any core: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Those that this process may use; none if that is not known. */
  private static List<Integer> cores() {
    List<Integer> cores = new ArrayList<>();
    try {
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
    } catch (IOException e) {
      System.out.println("Simulations run on any core: " + e.getMessage());
    }
    return cores;
  }

  /**
   * Has the tests of a class, which run simulations, stay on a core; another one in another process
   * of the build.
   */
  public static final class One implements BeforeAllCallback, AfterAllCallback {
    @Override
    public void beforeAll(ExtensionContext context) {
      stay(FORK);
    }

    @Override
    public void afterAll(ExtensionContext context) {
      if (!ALL.isEmpty()) {
        moveTo(ALL.stream().map(String::valueOf).collect(Collectors.joining(",")));
      }
    }
  }
}
