package io.stele.sim;

import java.time.Duration;
import java.util.Optional;

/**
 * Something that goes wrong in a {@link SimulatedCluster}, and for how long.
 *
 * <p>Members are named by their place in {@link SimulatedCluster#slots}, modulo their number.
 */
public sealed interface Fault {
  /** How long it lasts; zero for what happens at once. */
  Duration length();

  /** Whether anything fails: otherwise it is what an operator or a job may do at any time. */
  default boolean isFailure() {
    return !(this instanceof Usual);
  }

  /** What an operator or a job may do at any time. */
  sealed interface Usual extends Fault {}

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

  /** A process is killed at one of its next steps. */
  record DieAt(SimulatedCluster.Kind kind, int slot, Step step, int nth) implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /** A process stands still from one of its next steps on. */
  record PauseAt(SimulatedCluster.Kind kind, int slot, Step step, int nth, Duration length)
      implements Fault {}

  /**
   * A master stands still where a read goes on at the next tablet of METADATA, and an operator has
   * all tablets split, and their files rewritten from half of that time on.
   */
  record SplitInRead(int slot, int nth, Duration length) implements Fault {}

  /** A tablet server is asked to give its tablets away and end. */
  record DrainAndEnd(int slot) implements Usual {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /**
   * An operator moves a tablet of any kind.
   *
   * @param which of all tablets, counted round
   * @param to the slot of its next server; empty: the master chooses
   */
  record Move(int which, Optional<Integer> to) implements Usual {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /**
   * An operator has a tablet of any kind split at the row that halves it.
   *
   * @param which of all tablets, counted round
   */
  record Split(int which) implements Usual {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /**
   * An operator has a tablet of a user's table merged with the one before it.
   *
   * @param which of those that have one before them, counted round
   */
  record Merge(int which) implements Usual {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /**
   * A job pins tablets for that long.
   *
   * @param which the first of all tablets that it pins, counted round
   * @param ended whether it is ended then; else it is forgotten
   */
  record Job(int which, boolean ended, Duration length) implements Usual {}

  /** A tablet server is drained for that long. */
  record Drain(int slot, Duration length) implements Usual {}

  /** An operator has all tablets evened out at once, or turns balancing off, for that long. */
  record Balance(boolean off, Duration length) implements Usual {}

  /** The master is told that a tablet server may have ended, which nobody has seen. */
  record Suspect(int slot) implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /**
   * The same of a tablet server that is cut off, and so does not hear that the master takes its
   * lock away, while its lease holds and some clients reach it.
   */
  record SuspectCutOff(int slot, Far far, Duration length) implements Fault {}

  /** All members are killed at one moment. */
  record KillAll() implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /**
   * All members are killed, the lock service loses all its nodes, and an operator restores them
   * from the copy in the root directory. Nothing happens if the copy is not up to date: what it
   * does not have yet would be lost.
   */
  record LoseNodes() implements Fault {
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
    /** The lock service, other members, and the clients that are not in that half. */
    OTHER_HALF,
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

  /** A process and a tablet server are cut off from each other, and from nobody else. */
  record CutPair(SimulatedCluster.Kind kind, int slot, int server, Duration length)
      implements Fault {}

  /** The network loses, delays and repeats messages. */
  record BadNetwork(SimulatedNetwork.Weather weather, Duration length) implements Fault {}

  /** All that is sent to or by a process takes up to {@code delay} longer. */
  record SlowLink(SimulatedCluster.Kind kind, int slot, Duration delay, Duration length)
      implements Fault {}

  /** The lock service hears nothing of a process until it has ended its session. */
  record EndSession(SimulatedCluster.Kind kind, int slot) implements Fault {
    @Override
    public Duration length() {
      return Duration.ZERO;
    }
  }

  /** The lock service ends a session for silence and cannot tell its process. */
  record LoseSession(SimulatedCluster.Kind kind, int slot, Duration length) implements Fault {}

  /** The lock service is down. */
  record NoEnsemble(Duration length) implements Fault {}

  /** Answers of the lock service get lost. */
  record LostAnswers(double probability, Duration length) implements Fault {}

  /** A process's wall clock is wrong. */
  record WrongClock(SimulatedCluster.Kind kind, int slot, Duration ahead, Duration length)
      implements Fault {}

  /** Calls of the file system are slow, fail, or kill their process. */
  record BadFiles(SimulatedFiles.Weather weather, Duration length) implements Fault {}

  /** A process is told by an Observer NameNode of files as they were when this began. */
  record StaleNames(SimulatedCluster.Kind kind, int slot, Duration length) implements Fault {}

  /**
   * Whoever opens or reads an SSTable of one tablet of a user's table meets a bug: a {@code
   * RuntimeException}. That tablet alone may suffer.
   *
   * @param which of the tablets that have files, counted round
   */
  record Poison(int which, Duration length) implements Fault {}

  /** Every call of the file system fails, of whatever process. */
  record NoFiles(Duration length) implements Fault {}

  /** The file system is full. */
  record FullDisk(Duration length) implements Fault {}

  /** A fault and when it begins. */
  record Planned(Duration at, Fault fault) {}
}
