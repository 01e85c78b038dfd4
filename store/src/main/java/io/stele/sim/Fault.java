package io.stele.sim;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Something that goes wrong in a {@link SimulatedCluster}, and for how long.
 *
 * <p>Members are named by their place in {@link SimulatedCluster#slots}, modulo their number.
 */
public sealed interface Fault {
  /** How long it lasts; zero for what happens at once. */
  Duration length();

  /** A process is killed. */
  record Kill(SimulatedCluster.Kind kind, int slot) implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /**
   * A tablet server is killed, and after {@code length} the next one, which may have its tablets.
   */
  record KillInTurn(int slot, Duration length) implements Fault {}

  /** A tablet server is killed at one of its next calls of the file system. */
  record DieAt(int slot, Operation operation, int nth) implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /** A tablet server stands still from one of its next calls of the file system on. */
  record PauseAt(int slot, Operation operation, int nth, Duration length) implements Fault {}

  /** A tablet server is asked to give its tablets away and end. */
  record Drain(int slot) implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /** All members are killed at one moment. */
  record KillAll() implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /** A process stands still. */
  record Pause(SimulatedCluster.Kind kind, int slot, Duration length) implements Fault {}

  /**
   * A process stands still, and its clocks too, so that it does not know. No lease holds against
   * this: its reads may be out of date until it hears of its session, but it loses no write.
   */
  record Freeze(int slot, Duration length) implements Fault {}

  /** What a process is cut off from. */
  enum Far {
    ENSEMBLE,
    FILES,
    MEMBERS,
    CLIENTS,
    /** The lock service, other members, and every other client. */
    HALF,
    EVERYTHING
  }

  /** In which direction messages do not pass. */
  enum Way {
    OUT,
    IN,
    BOTH
  }

  /** A process is cut off. */
  record Cut(SimulatedCluster.Kind kind, int slot, Far far, Way way, Duration length)
      implements Fault {}

  /** The network loses, delays and repeats messages. */
  record BadNetwork(SimulatedNetwork.Weather weather, Duration length) implements Fault {}

  /** A session with the lock service ends though its process was not silent. */
  record EndSession(SimulatedCluster.Kind kind, int slot) implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /** The lock service ends a session early and cannot tell its process. */
  record LoseSession(SimulatedCluster.Kind kind, int slot, Duration length) implements Fault {}

  /** The lock service is away. */
  record NoEnsemble(Duration length) implements Fault {}

  /** Answers of the lock service get lost. */
  record LostAnswers(double probability, Duration length) implements Fault {}

  /** A process's wall clock is wrong. */
  record WrongClock(SimulatedCluster.Kind kind, int slot, Duration ahead, Duration length)
      implements Fault {}

  /** Calls of the file system are slow, fail, or kill their process. */
  record BadFiles(SimulatedFiles.Weather weather, Duration length) implements Fault {}

  /** The file system is full. */
  record FullDisk(Duration length) implements Fault {}

  /** A fault and when it begins. */
  record Planned(Duration at, Fault fault) {}

  /**
   * Faults that a seed chooses.
   *
   * @param freezes whether clocks may stand still
   */
  static List<Planned> plan(RandomGenerator random, Duration during, boolean freezes) {
    List<Planned> plan = new ArrayList<>();
    int count = 2 + random.nextInt(9);
    for (int i = 0; i < count; i++) {
      plan.add(
          new Planned(Duration.ofMillis(random.nextLong(during.toMillis())), any(random, freezes)));
    }
    plan.sort((one, other) -> one.at().compareTo(other.at()));
    return plan;
  }

  private static Fault any(RandomGenerator random, boolean freezes) {
    SimulatedCluster.Kind kind =
        random.nextInt(4) == 0 ? SimulatedCluster.Kind.MASTER : SimulatedCluster.Kind.SERVER;
    int slot = random.nextInt(8);
    // Shorter than a session, or as long as tablets need to move.
    Duration length =
        Duration.ofMillis(
            random.nextBoolean() ? 50 + random.nextLong(1500) : 2500 + random.nextLong(6000));
    return switch (random.nextInt(16)) {
      case 0 -> new Kill(kind, slot);
      case 1 -> random.nextInt(4) == 0 ? new KillAll() : new KillInTurn(slot, length);
      case 2, 3, 4 -> new DieAt(slot, step(random), 1 + random.nextInt(30));
      case 5, 6 ->
          freezes
              ? new Freeze(slot, length)
              : new PauseAt(slot, step(random), 1 + random.nextInt(30), length);
      case 7 -> new Pause(kind, slot, length);
      case 8, 9 ->
          new Cut(
              kind, slot, far(random), Way.values()[random.nextInt(Way.values().length)], length);
      case 10 ->
          new BadNetwork(
              new SimulatedNetwork.Weather(
                  random.nextDouble() * 0.1, random.nextDouble() * 0.1, random.nextDouble() * 0.1),
              length);
      case 11 ->
          random.nextBoolean()
              ? new EndSession(kind, slot)
              : new LoseSession(SimulatedCluster.Kind.SERVER, slot, length);
      case 12 -> random.nextBoolean() ? new NoEnsemble(length) : new LostAnswers(0.2, length);
      case 13 -> new WrongClock(kind, slot, Duration.ofMillis(skewMillis(random)), length);
      case 14 ->
          random.nextInt(4) == 0
              ? new FullDisk(length)
              : new BadFiles(
                  new SimulatedFiles.Weather(
                      0.4,
                      random.nextDouble() * 0.02,
                      random.nextDouble() * 0.03,
                      random.nextInt(3) == 0 ? 0.002 : 0),
                  length);
      default -> new Drain(slot);
    };
  }

  /** Within what servers allow, or of minutes or days. */
  private static long skewMillis(RandomGenerator random) {
    long most = random.nextBoolean() ? 20_000 : random.nextBoolean() ? 600_000 : 10L * 86_400_000;
    return random.nextLong(-most, most);
  }

  private static Far far(RandomGenerator random) {
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> Far.ENSEMBLE;
      case 3 -> Far.HALF;
      case 4 -> Far.FILES;
      case 5 -> Far.MEMBERS;
      case 6 -> Far.CLIENTS;
      default -> Far.EVERYTHING;
    };
  }

  private static Operation step(RandomGenerator random) {
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> Operation.FLUSH;
      case 3, 4 -> Operation.CREATE;
      case 5 -> Operation.CLOSE;
      case 6 -> Operation.WRITE;
      default -> Operation.DELETE;
    };
  }
}
