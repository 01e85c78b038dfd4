package io.stele.sim;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Draws faults of all kinds. */
final class AnyFault {
  /** Whether NameNodes that are behind are among the faults. */
  private static final boolean STALE_NAMES = true;

  private AnyFault() {}

  /**
   * A fault that a seed chooses.
   *
   * @param freezes whether clocks may stand still
   */
  static Fault of(RandomGenerator random, boolean freezes) {
    SimulatedCluster.Kind kind = kind(random);
    int slot = random.nextInt(8);
    Duration length = random.nextBoolean() ? shortOfASession(random) : untilTabletsMoved(random);
    return switch (random.nextInt(17)) {
      case 0 -> new Fault.Kill(kind, slot);
      case 1 -> random.nextInt(4) == 0 ? killAll(slot) : new Fault.KillInTurn(slot, length);
      case 2, 3, 4 ->
          new Fault.DieAt(
              SimulatedCluster.Kind.SERVER, slot, fileStep(random), 1 + random.nextInt(30));
      case 5 ->
          random.nextBoolean()
              ? new Fault.DieAt(kind, slot, remoteStep(random), 1 + random.nextInt(30))
              : new Fault.PauseAt(kind, slot, remoteStep(random), 1 + random.nextInt(30), length);
      case 6, 7 ->
          freezes
              ? new Fault.Freeze(slot, length)
              : new Fault.PauseAt(
                  SimulatedCluster.Kind.SERVER,
                  slot,
                  fileStep(random),
                  1 + random.nextInt(30),
                  length);
      case 8 -> new Fault.Pause(kind, slot, length);
      case 9, 10 ->
          random.nextInt(5) == 0
              ? new Fault.CutPair(kind, slot, random.nextInt(8), length)
              : new Fault.Cut(kind, slot, far(random), way(random), length);
      case 11 -> random.nextInt(3) == 0 ? slowLink(random, kind, slot) : badNetwork(random, length);
      case 12 ->
          random.nextBoolean()
              ? new Fault.EndSession(kind, slot)
              : new Fault.LoseSession(SimulatedCluster.Kind.SERVER, slot, length);
      case 13 ->
          random.nextBoolean() ? new Fault.NoEnsemble(length) : new Fault.LostAnswers(0.2, length);
      case 14 -> new Fault.WrongClock(kind, slot, Duration.ofMillis(skewMillis(random)), length);
      case 15 ->
          switch (random.nextInt(6)) {
            case 0 -> new Fault.FullDisk(length);
            case 1, 2 ->
                STALE_NAMES ? new Fault.StaleNames(kind, slot, length) : badFiles(random, length);
            default -> badFiles(random, length);
          };
      default -> random.nextInt(4) == 0 ? new Fault.Suspect(slot) : new Fault.DrainAndEnd(slot);
    };
  }

  private static Fault killAll(int slot) {
    return slot % 2 == 0 ? new Fault.KillAll() : new Fault.LoseNodes();
  }

  static SimulatedCluster.Kind kind(RandomGenerator random) {
    return random.nextInt(4) == 0 ? SimulatedCluster.Kind.MASTER : SimulatedCluster.Kind.SERVER;
  }

  /** Within what servers allow, or of minutes or days. */
  private static long skewMillis(RandomGenerator random) {
    long most = random.nextBoolean() ? 20_000 : random.nextBoolean() ? 600_000 : 10L * 86_400_000;
    return random.nextLong(-most, most);
  }

  private static Duration shortOfASession(RandomGenerator random) {
    return Duration.ofMillis(50 + random.nextLong(1500));
  }

  static Duration untilTabletsMoved(RandomGenerator random) {
    return Duration.ofMillis(2500 + random.nextLong(6000));
  }

  private static Fault badNetwork(RandomGenerator random, Duration length) {
    return new Fault.BadNetwork(
        new SimulatedNetwork.Weather(
            random.nextDouble() * 0.1, random.nextDouble() * 0.1, random.nextDouble() * 0.1, 0),
        length);
  }

  /** Slow enough for others to do much between two answers. */
  static Fault slowLink(RandomGenerator random, SimulatedCluster.Kind kind, int slot) {
    Duration delay = Duration.ofMillis(20 + random.nextLong(800));
    return new Fault.SlowLink(kind, slot, delay, untilTabletsMoved(random));
  }

  private static Fault badFiles(RandomGenerator random, Duration length) {
    return new Fault.BadFiles(
        new SimulatedFiles.Weather(
            0.4,
            random.nextDouble() * 0.02,
            random.nextDouble() * 0.03,
            random.nextInt(3) == 0 ? 0.002 : 0,
            0),
        length);
  }

  private static Fault.Way way(RandomGenerator random) {
    return Fault.Way.values()[random.nextInt(Fault.Way.values().length)];
  }

  private static Fault.Far far(RandomGenerator random) {
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> Fault.Far.ENSEMBLE;
      case 3 -> random.nextBoolean() ? Fault.Far.HALF : Fault.Far.OTHER_HALF;
      case 4 -> Fault.Far.FILES;
      case 5 -> Fault.Far.MEMBERS;
      case 6 -> Fault.Far.CLIENTS;
      default -> Fault.Far.EVERYTHING;
    };
  }

  private static Step fileStep(RandomGenerator random) {
    return switch (random.nextInt(8)) {
      case 0, 1, 2 -> Step.FLUSH;
      case 3, 4 -> Step.CREATE;
      case 5 -> Step.CLOSE;
      case 6 -> Step.WRITE;
      default -> Step.DELETE;
    };
  }

  /** What a process does to change what others have, or to learn of it. */
  static Step remoteStep(RandomGenerator random) {
    return switch (random.nextInt(6)) {
      case 0 -> Step.LOCKS;
      case 1 -> Step.OPEN;
      default -> Step.REQUEST;
    };
  }
}
