package io.stele.tablet;

import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import org.apache.hadoop.fs.Path;

/**
 * Counts the file-system calls of a scenario and has one of them go wrong.
 *
 * <p>Calls that concern the log and those that concern SSTables are counted apart: the log has a
 * thread of its own. Safe for use by any number of threads.
 */
final class FaultySites implements FaultInjector {
  /** What a call concerns. */
  enum Area {
    LOG,
    FILES
  }

  /** How a call goes wrong. */
  enum Fault {
    /** It does nothing and fails. */
    FAILS,
    /** It is done, and fails all the same. */
    FAILS_AFTER,
    /** A write takes a part and fails; a read gives a part. */
    SHORT,
    /** It fails, and so do all for a while that take room on the disk. */
    NO_SPACE,
    /** The file was closed by somebody else just before. */
    LEASE_LOST,
    /** The server was fenced just before, and the tablet given to another. */
    FENCED,
    /** It takes until the test lets it go on. */
    SLOW,
    /** All processes die just before. */
    CRASH;

    boolean fits(Operation operation) {
      return switch (this) {
        case FAILS, FENCED, SLOW, CRASH -> true;
        case FAILS_AFTER ->
            switch (operation) {
              case CREATE, WRITE, FLUSH, CLOSE, RENAME, DELETE, MKDIRS -> true;
              case OPEN, READ, LIST, STATUS -> false;
            };
        case SHORT -> operation == Operation.WRITE || operation == Operation.READ;
        case NO_SPACE -> takesRoom(operation);
        case LEASE_LOST ->
            operation == Operation.WRITE
                || operation == Operation.FLUSH
                || operation == Operation.CLOSE;
      };
    }
  }

  /** A call of the undisturbed scenario. */
  record Call(Area area, int number, Operation operation, String path) {
    @Override
    public String toString() {
      return area + " " + number + " (" + operation + " of " + path + ")";
    }
  }

  /** More attempts in a row than after which a log refuses writes. */
  private static final int WITHOUT_SPACE = 40;

  private final Optional<Area> area;
  private final int number;
  private final Fault fault;
  private final BiConsumer<Fault, Path> meanwhile;
  private final ThreadLocal<Boolean> inside = ThreadLocal.withInitial(() -> false);
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final int[] counts = new int[Area.values().length];
  private final List<Call> calls = new ArrayList<>();
  private Optional<Call> hit = Optional.empty();
  private int withoutSpace = WITHOUT_SPACE;
  private boolean over;

  private FaultySites(
      Optional<Area> area, int number, Fault fault, BiConsumer<Fault, Path> meanwhile) {
    this.area = area;
    this.number = number;
    this.fault = fault;
    this.meanwhile = meanwhile;
  }

  /** Counts only. */
  static FaultySites counting() {
    return new FaultySites(Optional.empty(), 0, Fault.FAILS, (fault, path) -> {});
  }

  /**
   * Has the {@code number}th call of an area go wrong.
   *
   * @param meanwhile what happens at LEASE_LOST, FENCED and CRASH just before the call
   */
  static FaultySites at(Area area, int number, Fault fault, BiConsumer<Fault, Path> meanwhile) {
    return new FaultySites(Optional.of(area), number, fault, meanwhile);
  }

  @Override
  public Optional<Effect> before(Operation operation, Path path) {
    if (inside.get()) {
      return Optional.empty();
    }
    String name = path.toUri().getPath();
    synchronized (this) {
      if (over) {
        return Optional.empty();
      }
      Area where =
          name.startsWith("/stele/logs") || name.startsWith("/stele/recovery")
              ? Area.LOG
              : Area.FILES;
      Call call = new Call(where, ++counts[where.ordinal()], operation, name);
      calls.add(call);
      if (hit.isPresent()) {
        return fault == Fault.NO_SPACE && takesRoom(operation) && withoutSpace-- > 0
            ? Optional.of(new Effect.Fail())
            : Optional.empty();
      }
      if (!area.equals(Optional.of(where)) || call.number() < number || !fault.fits(operation)) {
        return Optional.empty();
      }
      hit = Optional.of(call);
    }
    return Optional.of(
        switch (fault) {
          case FAILS, NO_SPACE -> new Effect.Fail();
          case FAILS_AFTER -> new Effect.FailAfter();
          case SHORT -> new Effect.Short(3);
          case LEASE_LOST, FENCED, CRASH -> new Effect.Delay(() -> aside(path));
          case SLOW -> new Effect.Delay(this::block);
        });
  }

  private static boolean takesRoom(Operation operation) {
    return operation == Operation.CREATE
        || operation == Operation.WRITE
        || operation == Operation.FLUSH;
  }

  private void aside(Path path) {
    inside.set(true);
    try {
      meanwhile.accept(fault, path);
    } finally {
      inside.set(false);
    }
  }

  private void block() {
    reached.countDown();
    try {
      goOn.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The calls so far. */
  synchronized List<Call> calls() {
    return List.copyOf(calls);
  }

  /** The call that went wrong; empty where there were not so many. */
  synchronized Optional<Call> hit() {
    return hit;
  }

  /** Completes when the slow call has been reached. */
  CountDownLatch reached() {
    return reached;
  }

  /** No call goes wrong from now on; a slow one goes on. */
  void end() {
    synchronized (this) {
      over = true;
    }
    goOn.countDown();
  }
}
