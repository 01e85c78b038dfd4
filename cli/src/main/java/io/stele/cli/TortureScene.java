package io.stele.cli;

import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.runtime.Deadline;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

/**
 * Where things fail.
 *
 * @param hadoop the work directory of the embedded Hadoop that the cluster runs on; empty: its
 *     processes are not ours to kill
 * @param relays stand between the cluster's processes and what they are connected to; empty: none
 *     do
 * @param tables what the names of the tables begin with that clients work on
 * @param random decides what fails, and for how long
 * @param over whether nothing more is to fail
 */
record TortureScene(
    ProcessRuntime runtime,
    Optional<Path> hadoop,
    Optional<TortureRelays> relays,
    String tables,
    SplittableRandom random,
    AtomicBoolean over) {
  static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final Duration SHORTEST = Duration.ofMillis(500);

  /**
   * How a wait ended.
   *
   * @param took how long it was
   * @param missing what was still not there at its end; empty: nothing
   */
  record Waited(Duration took, Optional<String> missing) {}

  /** Where nothing is over yet. */
  TortureScene(
      ProcessRuntime runtime,
      Optional<Path> hadoop,
      Optional<TortureRelays> relays,
      String tables,
      SplittableRandom random) {
    this(runtime, hadoop, relays, tables, random, new AtomicBoolean());
  }

  /**
   * The work directory of the embedded Hadoop.
   *
   * @throws IllegalStateException if there is none
   */
  Path ownHadoop() {
    return hadoop.orElseThrow(() -> new IllegalStateException("no processes here are ours"));
  }

  /**
   * What stands before the services.
   *
   * @throws IllegalStateException if nothing does
   */
  TortureRelays ownRelays() {
    return relays.orElseThrow(() -> new IllegalStateException("no relays are before the services"));
  }

  /** Whether nothing more is to fail. */
  boolean isOver() {
    return over.get();
  }

  /** Waits; less long if it is over. */
  void pause(Duration time) throws InterruptedException {
    Deadline deadline = Deadline.after(runtime, time);
    while (!isOver() && !deadline.isOver()) {
      runtime.sleep(LOOK_EVERY);
    }
  }

  /** A time of up to {@code longest}. */
  Duration upTo(Duration longest) {
    return Duration.ofMillis(random.nextLong(SHORTEST.toMillis(), longest.toMillis()));
  }

  /** One of them; empty if there is none. */
  <T> Optional<T> any(List<T> all) {
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
  }

  /** Waits until all tablets are served. */
  Waited awaitServed(Stele stele, Duration most) throws InterruptedException {
    return await(stele, most, "all tablets are served", status -> status.unassigned() == 0);
  }

  /** Waits until all tablets are served, and at least so many servers take tablets. */
  Waited awaitWhole(Stele stele, long servers, Duration most) throws InterruptedException {
    return await(
        stele,
        most,
        servers + " servers take tablets and all tablets are served",
        status -> status.unassigned() == 0 && status.takers() >= servers);
  }

  private Waited await(Stele stele, Duration most, String what, Predicate<ClusterStatus> condition)
      throws InterruptedException {
    long start = runtime.nanoTime();
    Deadline deadline = Deadline.after(runtime, most);
    while (true) {
      String last;
      try {
        ClusterStatus status = stele.admin().clusterStatus();
        // A master that has just been elected may not have looked yet, and know of no tablet.
        if (status.tablets() > 0 && condition.test(status)) {
          return new Waited(since(start), Optional.empty());
        }
        last =
            status.unassigned()
                + " tablets are not served, and "
                + status.takers()
                + " servers take tablets";
      } catch (IOException | RuntimeException e) {
        last = "the cluster's status cannot be had: " + e.getMessage();
      }
      if (deadline.isOver()) {
        String missing = "not so after " + most.toSeconds() + " s: " + what + ". Last seen: ";
        return new Waited(since(start), Optional.of(missing + last));
      }
      runtime.sleep(LOOK_EVERY);
    }
  }

  private Duration since(long startNanos) {
    return Duration.ofNanos(runtime.nanoTime() - startNanos);
  }
}
