package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.Stream;

/**
 * What fails while clients are at work, one thing at a time. A seed decides in which order; each
 * comes once before any comes again.
 *
 * <p>For one thread, except for {@link #stop}.
 */
final class TortureFaults {
  private static final Duration WHOLE_MAX = Duration.ofSeconds(60);

  private static final String OWN_HADOOP_ONLY =
      " is only for a cluster that torture starts by --start, or that `stele demo --keep` left running";
  private static final String OWN_CLUSTER_ONLY =
      " is only for a cluster that torture starts by --start, on Linux";

  /**
   * Something that failed.
   *
   * @param fault what it is
   * @param what was done, and to what
   * @param startNanos when, by the runtime's clock
   * @param endNanos when it was over
   */
  record Injected(TortureFault fault, String what, long startNanos, long endNanos) {}

  private final TortureScene scene;
  private final List<TortureFault> faults;
  private final Duration every;
  private final PrintWriter out;
  private final Deque<TortureFault> next = new ArrayDeque<>();
  private final List<Injected> injected = new ArrayList<>();
  private final List<String> wrong = new ArrayList<>();

  /**
   * Faults of a cluster.
   *
   * @param faults which; at least one
   * @param every how long it is between two, on average
   */
  TortureFaults(TortureScene scene, List<TortureFault> faults, Duration every, PrintWriter out) {
    this.scene = scene;
    this.faults = List.copyOf(faults);
    this.every = every;
    this.out = out;
  }

  /**
   * The faults of those names.
   *
   * @param names none: all that there are
   * @throws SteleException REFUSED if there is none of some name, or it cannot be had in {@code
   *     scene}
   */
  static List<TortureFault> named(List<String> names, TortureScene scene) {
    List<TortureFault> anywhere = new OperatorFaults(scene).all();
    List<TortureFault> onOwnHadoop =
        Stream.of(new ProcessFaults(scene).all(), anywhere, new HadoopFaults(scene).all())
            .flatMap(List::stream)
            .toList();
    List<TortureFault> all =
        Stream.concat(onOwnHadoop.stream(), new PartitionFaults(scene).all().stream()).toList();
    List<TortureFault> withoutRelays = scene.hadoop().isPresent() ? onOwnHadoop : anywhere;
    List<TortureFault> here = scene.relays().isPresent() ? all : withoutRelays;
    for (String name : names) {
      if (!names(all).contains(name)) {
        throw SteleException.refused(
            "unknown fault " + name + "; choose from " + String.join(", ", names(all)));
      }
      if (!names(here).contains(name)) {
        throw SteleException.refused(
            "fault "
                + name
                + (names(onOwnHadoop).contains(name) ? OWN_HADOOP_ONLY : OWN_CLUSTER_ONLY)
                + "; on others choose from "
                + String.join(", ", names(here)));
      }
    }
    return here.stream().filter(fault -> names.isEmpty() || names.contains(fault.name())).toList();
  }

  private static List<String> names(List<TortureFault> faults) {
    return faults.stream().map(TortureFault::name).toList();
  }

  /**
   * Lets things fail until {@link #stop}; then everything that was stopped goes on.
   *
   * @throws IOException if the cluster's status cannot be had at the beginning
   */
  void run(Stele stele) throws IOException, InterruptedException {
    long servers = stele.admin().clusterStatus().takers();
    while (true) {
      scene.pause(Duration.ofMillis(scene.random().nextLong(1, 2 * every.toMillis())));
      if (scene.isOver()) {
        return;
      }
      TortureFault fault = draw();
      if (!fault.harmless() || isWhole(stele, servers, fault)) {
        inject(fault, stele);
      }
    }
  }

  private TortureFault draw() {
    if (next.isEmpty()) {
      List<TortureFault> deck = new ArrayList<>(faults);
      Collections.shuffle(deck, new Random(scene.random().nextLong()));
      next.addAll(deck);
    }
    return next.remove();
  }

  /** Whether the cluster has come back from the last fault, if need be after a while. */
  private boolean isWhole(Stele stele, long servers, TortureFault fault)
      throws InterruptedException {
    TortureScene.Waited waited = scene.awaitWhole(stele, servers, WHOLE_MAX);
    waited.missing().ifPresent(why -> wrong("before " + fault.name() + ": " + why));
    return waited.missing().isEmpty() && !scene.isOver();
  }

  private void inject(TortureFault fault, Stele stele) throws InterruptedException {
    long start = scene.runtime().nanoTime();
    Optional<String> target;
    try {
      target = fault.injection().inject(stele);
    } catch (IOException | RuntimeException e) {
      String failed = "could not " + fault.text() + ": " + e.getMessage();
      if (fault.harmless()) {
        wrong(failed);
      } else {
        out.println(failed); // The cluster is just recovering from the last one.
      }
      return;
    }
    if (target.isPresent()) {
      String what = fault.text() + " " + target.get();
      out.println(what);
      injected.add(new Injected(fault, what, start, scene.runtime().nanoTime()));
    }
  }

  private void wrong(String what) {
    out.println("WRONG: " + what);
    wrong.add(what);
  }

  /** Ends it soon. Safe for use by any thread. */
  void stop() {
    scene.over().set(true);
  }

  /** What failed, in order; ask once {@link #run} has returned. */
  List<Injected> injected() {
    return List.copyOf(injected);
  }

  /** When the next began after {@code fault}; ask once {@link #run} has returned. */
  OptionalLong nextStartNanos(Injected fault) {
    return injected.stream()
        .mapToLong(Injected::startNanos)
        .filter(start -> start - fault.startNanos() > 0)
        .min();
  }

  /** Whether nothing went wrong that must not; ask once {@link #run} has returned. */
  boolean good() {
    return wrong.isEmpty();
  }

  /** Waits until all tablets are served. */
  TortureScene.Waited awaitServed(Stele stele, Duration most) throws InterruptedException {
    return scene.awaitServed(stele, most);
  }
}
