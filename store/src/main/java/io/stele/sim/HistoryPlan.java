package io.stele.sim;

import io.stele.config.Keys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;

/**
 * What happens in one history of a simulated cluster, as far as it is decided beforehand.
 *
 * @param seed of everything else
 * @param length how long clients work and faults happen
 * @param masters how many
 * @param servers how many tablet servers
 * @param clients when each client of a workload begins: one that begins late knows no locations
 * @param workloads the workloads, by name
 * @param settings {@code stele.*} keys and values
 * @param faults what goes wrong, and when
 */
public record HistoryPlan(
    long seed,
    Duration length,
    int masters,
    int servers,
    List<Duration> clients,
    List<String> workloads,
    List<Setting> settings,
    List<Fault.Planned> faults) {
  /** A key and its value. */
  public record Setting(String key, String value) {}

  /** Client calls end by this and a second. */
  public static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(8);

  private static final int APART_EVERY = 8;
  private static final int JOBS_EVERY = 7;
  private static final int JOBS_IN = 2;
  private static final long JOBS = 0x6a6f6273L;
  private static final int MERGED_EVERY = 5;
  private static final int MERGED_IN = 2;
  private static final long MERGED = 0x6d65726765L;
  private static final int OPERATED_EVERY = 3;
  private static final long OPERATED = 0x6f70657261746f72L;

  /** Workloads that look at what was written only at the end, when no clock stands still. */
  private static final Set<String> WITH_FROZEN_CLOCKS = Set.of("lists");

  public HistoryPlan {
    clients = List.copyOf(clients);
    workloads = List.copyOf(workloads);
    settings = List.copyOf(settings);
    faults = List.copyOf(faults);
  }

  /** The plan that {@code seed} decides. */
  public static HistoryPlan of(long seed, Duration length, List<String> workloads) {
    RandomGenerator random = new SplittableRandom(seed);
    return of(seed, random, length, workloads, Focus.any(random));
  }

  /** The plan that {@code seed} decides among those with that focus. */
  static HistoryPlan of(long seed, Duration length, List<String> workloads, Focus focus) {
    return of(seed, new SplittableRandom(seed), length, workloads, focus);
  }

  private static HistoryPlan of(
      long seed, RandomGenerator random, Duration length, List<String> workloads, Focus focus) {
    List<String> fit = focus.workloads(workloads);
    List<String> chosen = new ArrayList<>();
    int count = 1 + random.nextInt(2);
    for (int i = 0; i < count; i++) {
      String one = fit.get(random.nextInt(fit.size()));
      if (!chosen.contains(one)) {
        chosen.add(one);
      }
    }
    return new HistoryPlan(
        seed,
        length,
        1 + random.nextInt(2),
        2 + random.nextInt(2),
        clients(random, length, focus),
        chosen,
        settings(seed, random, focus),
        faults(seed, length, focus.plan(random, length, WITH_FROZEN_CLOCKS.containsAll(chosen))));
  }

  /**
   * One history in eight has poison, too, and one a long outage of the file system; in some an
   * operator is at work, jobs pin tablets, or tablets are merged. They are drawn apart, so that all
   * others are what they would be without.
   */
  private static List<Fault.Planned> faults(
      long seed, Duration length, List<Fault.Planned> planned) {
    List<Fault.Planned> all = new ArrayList<>(planned);
    all.addAll(ofOperators(seed, length));
    all.addAll(ofJobs(seed, length));
    all.addAll(ofMerges(seed, length));
    ofFiles(seed, length).ifPresent(all::add);
    all.sort(Comparator.comparing(Fault.Planned::at));
    return all;
  }

  /** In one history of three tablets are moved, and servers are drained for a while. */
  private static List<Fault.Planned> ofOperators(long seed, Duration length) {
    if (Math.floorMod(seed, OPERATED_EVERY) != 1) {
      return List.of();
    }
    RandomGenerator random = new SplittableRandom(seed ^ OPERATED);
    List<Fault.Planned> planned = new ArrayList<>();
    int count = 1 + random.nextInt(12);
    for (int i = 0; i < count; i++) {
      Duration some = Duration.ofMillis(500 + random.nextLong(8000));
      Fault fault =
          switch (random.nextInt(8)) {
            case 0 -> new Fault.Drain(random.nextInt(8), some);
            case 1 -> new Fault.Balance(random.nextBoolean(), some);
            case 2 -> new Fault.Split(random.nextInt(64));
            default ->
                new Fault.Move(
                    random.nextInt(64),
                    random.nextBoolean() ? Optional.of(random.nextInt(8)) : Optional.empty());
          };
      planned.add(new Fault.Planned(Duration.ofMillis(random.nextLong(length.toMillis())), fault));
    }
    return planned;
  }

  /** In two histories of five tablets are merged; masters die of some, or stand still meanwhile. */
  private static List<Fault.Planned> ofMerges(long seed, Duration length) {
    if (Math.floorMod(seed, MERGED_EVERY) >= MERGED_IN) {
      return List.of();
    }
    RandomGenerator random = new SplittableRandom(seed ^ MERGED);
    List<Fault.Planned> planned = new ArrayList<>();
    int count = 1 + random.nextInt(12);
    for (int i = 0; i < count; i++) {
      Duration at = Duration.ofMillis(random.nextLong(length.toMillis()));
      planned.add(new Fault.Planned(at, new Fault.Merge(random.nextInt(64))));
      SimulatedCluster.Kind kind = SimulatedCluster.Kind.MASTER;
      int slot = random.nextInt(2);
      int nth = 1 + random.nextInt(12);
      Duration some = Duration.ofMillis(500 + random.nextLong(8000));
      switch (random.nextInt(6)) {
        case 0 ->
            planned.add(new Fault.Planned(at, new Fault.DieAt(kind, slot, Step.REQUEST, nth)));
        case 1, 2 ->
            planned.add(
                new Fault.Planned(at, new Fault.PauseAt(kind, slot, Step.REQUEST, nth, some)));
        default -> {}
      }
    }
    return planned;
  }

  /** In two histories of seven jobs pin tablets. */
  private static List<Fault.Planned> ofJobs(long seed, Duration length) {
    if (Math.floorMod(seed, JOBS_EVERY) < JOBS_EVERY - JOBS_IN) {
      return List.of();
    }
    RandomGenerator random = new SplittableRandom(seed ^ JOBS);
    List<Fault.Planned> planned = new ArrayList<>();
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      Duration some = Duration.ofMillis(500 + random.nextLong(10_000));
      planned.add(
          new Fault.Planned(
              Duration.ofMillis(random.nextLong(length.toMillis())),
              new Fault.Job(random.nextInt(64), random.nextBoolean(), some)));
    }
    return planned;
  }

  private static Optional<Fault.Planned> ofFiles(long seed, Duration length) {
    RandomGenerator random = new SplittableRandom(~seed);
    int which = Math.floorMod(seed, APART_EVERY);
    Fault.Planned apart;
    if (which == APART_EVERY - 1) {
      apart =
          new Fault.Planned(
              Duration.ofMillis(random.nextLong(length.toMillis())),
              new Fault.Poison(
                  random.nextInt(16), Duration.ofMillis(500 + random.nextLong(12_000))));
    } else if (which == APART_EVERY / 2 - 1) {
      apart =
          new Fault.Planned(
              Duration.ofMillis(random.nextLong(length.toMillis() / 3)),
              new Fault.NoFiles(Duration.ofMillis(10_000 + random.nextLong(20_000))));
    } else {
      return Optional.empty();
    }
    return Optional.of(apart);
  }

  private static List<Duration> clients(RandomGenerator random, Duration length, Focus focus) {
    List<Duration> begins = new ArrayList<>(Collections.nCopies(focus.clientsMin(), Duration.ZERO));
    int early = random.nextInt(2);
    int late = focus.lateClientsMin() + random.nextInt(3);
    for (int i = 0; i < early; i++) {
      begins.add(Duration.ZERO);
    }
    for (int i = 0; i < late; i++) {
      begins.add(Duration.ofMillis(random.nextLong(length.toMillis())));
    }
    return begins;
  }

  private static List<Setting> settings(long seed, RandomGenerator random, Focus focus) {
    List<Setting> settings = new ArrayList<>();
    settings.add(new Setting(Keys.ROOT_DIR.name(), "crash:///stele"));
    settings.add(new Setting(Keys.SESSION_TIMEOUT.name(), "1500ms"));
    settings.add(new Setting(Keys.LEASE.name(), "1s"));
    settings.add(new Setting(Keys.CLIENT_TIMEOUT.name(), CLIENT_TIMEOUT.toSeconds() + "s"));
    settings.add(new Setting(Keys.QUARANTINE_RETRY.name(), "500ms"));
    settings.add(new Setting(Keys.CACHE_BYTES.name(), "8m"));
    settings.add(new Setting(Keys.CACHE_OFF_HEAP_PERCENT.name(), "0"));
    settings.add(new Setting(Keys.TABLETSERVER_HANDLERS.name(), "4"));
    settings.add(new Setting(Keys.MEMTABLE_BYTES.name(), (4 << random.nextInt(5)) + "k"));
    settings.add(new Setting(Keys.LOG_SEGMENT_BYTES.name(), (4 << random.nextInt(5)) + "k"));
    settings.add(
        new Setting(Keys.LOG_SEGMENTS_MAX.name(), Integer.toString(2 + random.nextInt(6))));
    settings.add(new Setting(Keys.LOG_AGE_MAX.name(), (1 + random.nextInt(10)) + "s"));
    settings.add(new Setting(Keys.GARBAGE_INTERVAL.name(), (2 + random.nextInt(20)) + "s"));
    settings.add(new Setting(Keys.SWEEP_INTERVAL.name(), (1 + random.nextInt(5)) + "s"));
    settings.add(new Setting(Keys.SWEEP_GRACE.name(), random.nextInt(2000) + "ms"));
    settings.add(
        new Setting(Keys.METADATA_SPLIT_BYTES.name(), random.nextInt(4) == 0 ? "4k" : "64m"));
    settings.add(new Setting(Keys.SORT_BYTES_MIN.name(), seed % 4 == 0 ? "8m" : "0"));
    settings.addAll(focus.settings());
    return settings;
  }

  /** The configuration of the cluster. */
  Configuration configuration() {
    Configuration conf = new Configuration(false);
    settings.forEach(setting -> conf.set(setting.key(), setting.value()));
    return conf;
  }

  /** The same with other faults. */
  HistoryPlan withFaults(List<Fault.Planned> others) {
    return new HistoryPlan(seed, length, masters, servers, clients, workloads, settings, others);
  }

  /** The same in which nothing fails: of its faults only what operators and jobs do is left. */
  HistoryPlan withoutFailures() {
    return withFaults(faults.stream().filter(one -> !one.fault().isFailure()).toList());
  }

  /** Whether anything fails. */
  boolean hasFailures() {
    return faults.stream().anyMatch(one -> one.fault().isFailure());
  }

  /** The same with other workloads. */
  HistoryPlan withWorkloads(List<String> others) {
    return new HistoryPlan(seed, length, masters, servers, clients, others, settings, faults);
  }

  /** The same with other clients. */
  HistoryPlan withClients(List<Duration> begins) {
    return new HistoryPlan(seed, length, masters, servers, begins, workloads, settings, faults);
  }

  /** The same, ended sooner. */
  HistoryPlan withLength(Duration shorter) {
    return new HistoryPlan(seed, shorter, masters, servers, clients, workloads, settings, faults);
  }
}
