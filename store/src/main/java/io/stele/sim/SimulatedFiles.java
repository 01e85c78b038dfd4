package io.stele.sim;

import io.stele.model.TableId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The file system of a {@link Simulation}: a {@link CrashableDisk} whose calls take time, fail or
 * kill their process now and then, and that is cut off from processes like any machine.
 *
 * <p>For the holder of the simulation's baton alone.
 */
public final class SimulatedFiles {
  private static final long LATENCY_MAX_MICROS = 1500;
  private static final Duration SLOW_MAX = Duration.ofSeconds(2);
  private static final Duration UNREACHABLE = Duration.ofSeconds(1);

  /**
   * How calls fare; each number is a probability for each call that it may concern.
   *
   * @param slowReads that a read of an SSTable takes long, as from a DataNode that stands still
   */
  public record Weather(double waits, double slow, double failed, double fatal, double slowReads) {
    /** All succeed; some take a little time. */
    public static final Weather FAIR = new Weather(0.3, 0, 0, 0, 0);
  }

  /** How what a poisoned file throws begins. */
  static final String POISON = "a bug met at a poisoned file: ";

  private final Simulation simulation;
  private final SimulatedNetwork network;
  private final SimulatedProcess machine;
  private final CrashableDisk disk = new CrashableDisk();
  private final RandomGenerator random;
  private final Map<String, CrashableFileSystem> views = new TreeMap<>(); // By process.
  private Weather weather = Weather.FAIR;
  private boolean full;
  private boolean away;
  private Optional<Path> poisoned = Optional.empty(); // A tablet's directory.

  /** An empty file system. */
  public SimulatedFiles(Simulation simulation, SimulatedNetwork network) {
    this.simulation = simulation;
    this.network = network;
    this.machine = simulation.process("files");
    this.random = simulation.split();
    disk.recoverSlowly(simulation.split());
    disk.inject(this::before);
  }

  /** What the network knows the file system as. */
  public SimulatedProcess machine() {
    return machine;
  }

  /** The disk, to look at it without its weather. */
  public CrashableDisk disk() {
    return disk;
  }

  /** Whether more goes wrong than that calls take a little time. */
  boolean isFaulty() {
    return full || away || !weather.equals(Weather.FAIR);
  }

  /**
   * Makes {@code process} see names as they are now, and no later ones until it changes one or asks
   * for all there is; or no more.
   */
  void setStale(SimulatedProcess process, boolean now) {
    CrashableFileSystem view = views.get(process.name());
    if (view != null) {
      view.answerFromOldNames(now);
    }
  }

  /** Sets how calls fare from now on. */
  public void setWeather(Weather now) {
    weather = now;
  }

  /** Makes every call of every process fail, or not. */
  void setAway(boolean now) {
    away = now;
  }

  /** Makes every write fail because the disk is full, or not. */
  public void setFull(boolean now) {
    full = now;
  }

  /**
   * Has every process that opens or reads a file of one tablet of a user's table meet a bug.
   *
   * @param which of the tablets that have files, counted round; none where there is none
   */
  void poison(int which) {
    SortedSet<Path> tablets = new TreeSet<>();
    for (Path file : disk.files()) {
      Path tablet = file.getParent();
      if (isSSTable(file) && !new TableId(tablet.getParent().getName()).isSystem()) {
        tablets.add(tablet);
      }
    }
    poisoned = tablets.stream().skip(tablets.isEmpty() ? 0 : which % tablets.size()).findFirst();
    poisoned.ifPresent(tablet -> simulation.note(machine, "files of " + tablet + " are poisoned"));
  }

  /** Files are as they were before {@link #poison}. */
  void endPoison() {
    poisoned = Optional.empty();
  }

  private boolean isPoisoned(Operation operation, Path path) {
    return (operation == Operation.OPEN || operation == Operation.READ)
        && poisoned.isPresent()
        && isSSTable(path)
        && poisoned.get().getName().equals(path.getParent().getName());
  }

  private static boolean isSSTable(Path path) {
    return path.getName().endsWith(".sst");
  }

  /** The file system as {@code process} sees it: what it did not flush goes with it. */
  public FileSystem mount(SimulatedProcess process) {
    CrashableFileSystem view = disk.mount();
    views.put(process.name(), view);
    if (isClient(process)) {
      view.loseDeletedFiles(); // Nothing keeps files for clients.
    }
    process.atDeath(() -> disk.kill(view, random));
    return view;
  }

  private static boolean isClient(SimulatedProcess process) {
    return process.name().startsWith(SimulatedCluster.CLIENT);
  }

  private Optional<FaultInjector.Effect> before(Operation operation, Path path) {
    SimulatedProcess process = simulation.current();
    if (process == simulation.outside() || process.isEnding()) {
      return Optional.empty();
    }
    if (away || !network.passes(process, machine) || !network.passes(machine, process)) {
      process.sleepUninterruptibly(UNREACHABLE);
      return Optional.of(new FaultInjector.Effect.Fail());
    }
    if (isPoisoned(operation, path)) {
      if (isClient(process)) {
        return Optional.of(new FaultInjector.Effect.Fail()); // It ends no client to meet a bug.
      }
      return Optional.of(
          new FaultInjector.Effect.Delay(
              () -> {
                throw new IllegalStateException(POISON + path);
              }));
    }
    boolean changes =
        switch (operation) {
          case CREATE, WRITE, FLUSH, CLOSE, RENAME, DELETE, MKDIRS -> true;
          case OPEN, READ, LIST, STATUS -> false;
        };
    if (full && (operation == Operation.WRITE || operation == Operation.FLUSH)) {
      return Optional.of(new FaultInjector.Effect.Fail());
    }
    Optional<Runnable> trap = step(operation).flatMap(process.traps()::at);
    if (trap.isPresent()) {
      simulation.note(process, "is trapped at " + operation + " of " + path.getName());
      return Optional.of(
          random.nextBoolean()
              ? atOnce(process, trap.get())
              : soon(simulation.outside(), trap.get()));
    }
    double chance = random.nextDouble();
    if (changes && chance < weather.fatal()) {
      simulation.note(process, "dies at " + operation + " of " + path.getName());
      boolean before = random.nextBoolean();
      return Optional.of(before ? atOnce(process, process::kill) : soon(process, process::kill));
    }
    chance -= weather.fatal();
    if (chance >= 0 && chance < weather.failed()) {
      return Optional.of(failure(operation));
    }
    chance -= weather.failed();
    if (chance >= 0 && chance < slow(operation, path)) {
      return Optional.of(pause(process, SLOW_MAX));
    }
    return random.nextDouble() < waits(operation)
        ? Optional.of(pause(process, Duration.ofNanos(1000 * LATENCY_MAX_MICROS)))
        : Optional.empty();
  }

  private double slow(Operation operation, Path path) {
    boolean ofTablet = operation == Operation.READ && isSSTable(path);
    return weather.slow() + (ofTablet ? weather.slowReads() : 0);
  }

  /** A write mostly goes into memory; to flush it is what takes time. */
  private double waits(Operation operation) {
    return operation == Operation.WRITE ? weather.waits() / 10 : weather.waits();
  }

  private static Optional<Step> step(Operation operation) {
    return switch (operation) {
      case CREATE -> Optional.of(Step.CREATE);
      case WRITE -> Optional.of(Step.WRITE);
      case FLUSH -> Optional.of(Step.FLUSH);
      case CLOSE -> Optional.of(Step.CLOSE);
      case DELETE -> Optional.of(Step.DELETE);
      case OPEN -> Optional.of(Step.OPEN);
      case READ, RENAME, LIST, STATUS, MKDIRS -> Optional.empty();
    };
  }

  private FaultInjector.Effect pause(SimulatedProcess process, Duration most) {
    Duration pause = Duration.ofNanos(random.nextLong(1000, most.toNanos()));
    return new FaultInjector.Effect.Delay(() -> process.sleepUninterruptibly(pause));
  }

  private FaultInjector.Effect failure(Operation operation) {
    List<FaultInjector.Effect> fit = new ArrayList<>();
    fit.add(new FaultInjector.Effect.Fail());
    switch (operation) {
      case WRITE -> fit.add(new FaultInjector.Effect.Short(random.nextInt(64)));
      case CREATE, FLUSH, CLOSE, RENAME, DELETE, MKDIRS ->
          fit.add(new FaultInjector.Effect.FailAfter());
      case OPEN, READ, LIST, STATUS -> {}
    }
    return fit.get(random.nextInt(fit.size()));
  }

  /** The action comes before the call. */
  private static FaultInjector.Effect atOnce(SimulatedProcess process, Runnable action) {
    return new FaultInjector.Effect.Delay(
        () -> {
          action.run();
          // Others go on, and this one when it may, if it still lives.
          process.sleepUninterruptibly(Duration.ofNanos(1));
        });
  }

  /** The action comes after the call, or in what follows, as a callback of {@code in}. */
  private FaultInjector.Effect soon(SimulatedProcess in, Runnable action) {
    Duration soon = Duration.ofNanos(random.nextLong(1_000_000));
    return new FaultInjector.Effect.Delay(() -> simulation.schedule(in, soon, "", action));
  }
}
