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

  /** All members are killed at one moment. */
  record KillAll() implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /** A process stands still. */
  record Pause(SimulatedCluster.Kind kind, int slot, Duration length) implements Fault {}

  /** What a process is cut off from. */
  enum Far {
    ENSEMBLE,
    FILES,
    MEMBERS,
    CLIENTS,
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

  /** Faults that a seed chooses. */
  static List<Planned> plan(RandomGenerator random, Duration during) {
    List<Planned> plan = new ArrayList<>();
    int count = 1 + random.nextInt(6);
    for (int i = 0; i < count; i++) {
      plan.add(new Planned(Duration.ofMillis(random.nextLong(during.toMillis())), any(random)));
    }
    plan.sort((one, other) -> one.at().compareTo(other.at()));
    return plan;
  }

  private static Fault any(RandomGenerator random) {
    SimulatedCluster.Kind kind =
        random.nextInt(4) == 0 ? SimulatedCluster.Kind.MASTER : SimulatedCluster.Kind.SERVER;
    int slot = random.nextInt(8);
    Duration length = Duration.ofMillis(100 + random.nextLong(8000));
    return switch (random.nextInt(12)) {
      case 0, 1 -> new Kill(kind, slot);
      case 2 -> random.nextInt(3) == 0 ? new KillAll() : new Kill(kind, slot);
      case 3 -> new Pause(kind, slot, length);
      case 4, 5 ->
          new Cut(
              kind,
              slot,
              Far.values()[random.nextInt(Far.values().length)],
              Way.values()[random.nextInt(Way.values().length)],
              length);
      case 6 ->
          new BadNetwork(
              new SimulatedNetwork.Weather(
                  random.nextDouble() * 0.05, random.nextDouble() * 0.1, random.nextDouble() * 0.1),
              length);
      case 7 -> new EndSession(kind, slot);
      case 8 -> random.nextBoolean() ? new NoEnsemble(length) : new LostAnswers(0.2, length);
      case 9 ->
          new WrongClock(kind, slot, Duration.ofMillis(random.nextLong(-20_000, 20_000)), length);
      case 10 ->
          new BadFiles(
              new SimulatedFiles.Weather(
                  0.4,
                  random.nextDouble() * 0.02,
                  random.nextDouble() * 0.03,
                  random.nextInt(3) == 0 ? 0.002 : 0),
              length);
      default -> random.nextInt(3) == 0 ? new FullDisk(length) : new Kill(kind, slot);
    };
  }
}
