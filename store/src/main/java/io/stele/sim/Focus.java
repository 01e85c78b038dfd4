package io.stele.sim;

import io.stele.config.Keys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The kind of faults that prevails in a history. Faults of all kinds mixed hardly ever come in the
 * order that reveals some mistakes; faults of one family often do.
 */
enum Focus {
  /** Anything. */
  NONE,
  /** A server or master is cut off from the lock service and some others, and not from all. */
  DIVIDED,
  /**
   * A server that lives is taken for dead, and cannot know: while its lease holds, some clients get
   * answers of it, and those that begin then ask its successor.
   */
  SUSPECTED,
  /** Servers die in turn, before they have written to SSTables what they took over. */
  IN_TURN,
  /** Processes stand still in the midst of what they do, and go on when others have their tasks. */
  STOPPED,
  /** Tablets split, METADATA's too, are swept, and move, while requests are late and repeated. */
  SPLITTING,
  /**
   * What is decided and what is served differ for long: answers to changes of records are late, and
   * rows that are read before they are changed come late from their files. For workloads that clear
   * rows or commit jobs.
   */
  UNSETTLED;

  private static final int FOCUSED_FAULTS_OF_TEN = 8;

  /** Those that fit any workload. */
  private static final List<Focus> OF_ALL =
      List.of(DIVIDED, SUSPECTED, IN_TURN, STOPPED, SPLITTING);

  /** One that a seed chooses; half of all histories have none. */
  static Focus any(RandomGenerator random) {
    return random.nextBoolean() ? NONE : OF_ALL.get(random.nextInt(OF_ALL.size()));
  }

  /** The workloads that show most, out of {@code names}; all if none of those are there. */
  List<String> workloads(List<String> names) {
    List<String> fit =
        switch (this) {
          case NONE, IN_TURN, STOPPED, UNSETTLED -> names;
          // What is read out of date shows, and hardly anything is written.
          case DIVIDED, SUSPECTED -> List.of("registers");
          case SPLITTING -> List.of("lists", "scans");
        };
    List<String> some = fit.stream().filter(names::contains).toList();
    return some.isEmpty() ? names : some;
  }

  /** How many clients there are from the beginning, at least. */
  int clientsMin() {
    return switch (this) {
      case DIVIDED, SPLITTING, UNSETTLED -> 3;
      case SUSPECTED -> 2;
      case NONE, IN_TURN, STOPPED -> 1;
    };
  }

  /** How many clients begin later, at least. */
  int lateClientsMin() {
    return switch (this) {
      case SUSPECTED -> 3;
      case NONE, DIVIDED, IN_TURN, STOPPED, SPLITTING, UNSETTLED -> 0;
    };
  }

  /** Settings in the place of those that a seed would choose. */
  List<HistoryPlan.Setting> settings() {
    return switch (this) {
      case NONE, DIVIDED, STOPPED -> List.of();
      // What is written is soon read from files, also where it is read for the first time.
      case UNSETTLED -> List.of(new HistoryPlan.Setting(Keys.LOG_AGE_MAX.name(), "200ms"));
      // The lease holds long enough for another server to load the tablets.
      case SUSPECTED ->
          List.of(
              new HistoryPlan.Setting(Keys.SESSION_TIMEOUT.name(), "8s"),
              new HistoryPlan.Setting(Keys.LEASE.name(), "4800ms"));
      // What was replayed stays in the memtable for as long as nothing else has it written out.
      case IN_TURN ->
          List.of(
              new HistoryPlan.Setting(Keys.MEMTABLE_BYTES.name(), "64k"),
              new HistoryPlan.Setting(Keys.LOG_AGE_MAX.name(), "10s"));
      case SPLITTING ->
          List.of(
              // A master keeps its office while it pauses in a sweep, and goes on with it.
              new HistoryPlan.Setting(Keys.SESSION_TIMEOUT.name(), "8s"),
              new HistoryPlan.Setting(Keys.METADATA_SPLIT_BYTES.name(), "4k"),
              new HistoryPlan.Setting(Keys.MEMTABLE_BYTES.name(), "4k"),
              // Compactions come soon after a split, and drop what its halves share.
              new HistoryPlan.Setting(Keys.LOG_AGE_MAX.name(), "200ms"),
              new HistoryPlan.Setting(Keys.SWEEP_INTERVAL.name(), "100ms"),
              new HistoryPlan.Setting(Keys.SWEEP_GRACE.name(), "0ms"));
    };
  }

  /**
   * Faults that a seed chooses, in the order in which they begin.
   *
   * @param freezes whether clocks may stand still
   */
  List<Fault.Planned> plan(RandomGenerator random, Duration during, boolean freezes) {
    List<Fault.Planned> plan = new ArrayList<>();
    int count = countMin() + random.nextInt(9);
    for (int i = 0; i < count; i++) {
      Duration at = Duration.ofMillis(random.nextLong(during.toMillis()));
      boolean focused = this != NONE && random.nextInt(10) < FOCUSED_FAULTS_OF_TEN;
      plan.add(new Fault.Planned(at, focused ? focused(random) : AnyFault.of(random, freezes)));
    }
    plan.sort(Comparator.comparing(Fault.Planned::at));
    return plan;
  }

  private int countMin() {
    return switch (this) {
      case NONE, DIVIDED, SUSPECTED, IN_TURN, STOPPED -> 2;
      // One after the other, all along.
      case UNSETTLED -> 8;
      // Short, and few of them where a sweep is between the halves of a split.
      case SPLITTING -> 16;
    };
  }

  private Fault focused(RandomGenerator random) {
    SimulatedCluster.Kind kind = AnyFault.kind(random);
    int slot = random.nextInt(8);
    Duration moving = AnyFault.untilTabletsMoved(random);
    return switch (this) {
      case NONE -> throw new IllegalStateException("nothing to focus on");
      case DIVIDED -> {
        Fault.Far far =
            switch (random.nextInt(5)) {
              case 0 -> Fault.Far.ENSEMBLE;
              case 1, 2 -> Fault.Far.HALF;
              default -> Fault.Far.OTHER_HALF;
            };
        yield new Fault.Cut(kind, slot, far, Fault.Way.BOTH, moving);
      }
      case SUSPECTED ->
          new Fault.SuspectCutOff(
              slot, random.nextBoolean() ? Fault.Far.HALF : Fault.Far.OTHER_HALF, moving);
      case IN_TURN -> new Fault.KillInTurn(slot, Duration.ofMillis(500 + random.nextLong(5500)));
      case STOPPED ->
          random.nextInt(4) == 0
              ? new Fault.Kill(SimulatedCluster.Kind.SERVER, slot)
              : new Fault.PauseAt(
                  kind, slot, AnyFault.remoteStep(random), 1 + random.nextInt(12), moving);
      case UNSETTLED ->
          random.nextBoolean()
              ? new Fault.BadNetwork(new SimulatedNetwork.Weather(0, 0, 0, 0.5), moving)
              : new Fault.BadFiles(new SimulatedFiles.Weather(0.4, 0, 0, 0, 0.2), moving);
      case SPLITTING ->
          switch (random.nextInt(16)) {
            case 0 -> new Fault.BadNetwork(new SimulatedNetwork.Weather(0, 0.2, 0.3, 0), moving);
            case 1 ->
                new Fault.DieAt(
                    SimulatedCluster.Kind.SERVER,
                    slot,
                    AnyFault.remoteStep(random),
                    1 + random.nextInt(12));
            case 2 -> new Fault.DrainAndEnd(slot);
            // Tablets split between two of its reads all the time.
            case 3 -> AnyFault.slowLink(random, SimulatedCluster.Kind.MASTER, slot);
            // Tablets split and are compacted between two of its reads.
            case 4, 5 ->
                new Fault.SplitInRead(
                    slot, 1 + random.nextInt(20), Duration.ofMillis(200 + random.nextLong(1500)));
            default ->
                new Fault.PauseAt(
                    SimulatedCluster.Kind.MASTER,
                    slot,
                    Step.NEXT_TABLET,
                    1 + random.nextInt(20),
                    Duration.ofMillis(600 + random.nextLong(2000)));
          };
    };
  }
}
