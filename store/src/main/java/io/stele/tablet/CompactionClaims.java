package io.stele.tablet;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.record.FileRef;
import io.stele.runtime.Futures;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;

/**
 * Which files are being compacted. Each {@link FileStack} has at most one merging or major
 * compaction at a time. A stack whose last compaction failed is chosen after all others, so that
 * damage in one locality group does not delay the others.
 *
 * <p>Safe for use by any number of threads.
 */
final class CompactionClaims {
  /** Chooses the layers of a stack to compact under some rules; empty: none. */
  interface Choice extends BiFunction<FileStack, SchemaRules, Optional<List<FileStack.Layer>>> {}

  /**
   * The right to replace some neighbouring layers of a stack. It holds the stack's files.
   *
   * @param layers of the stack, the newest first
   * @param rules under which the files form this stack; the new files are written under the same
   */
  record Claim(FileStack stack, List<FileStack.Layer> layers, SchemaRules rules) {
    /** The files to replace. */
    List<TabletFile> files() {
      return layers.stream().flatMap(layer -> layer.files().stream()).toList();
    }

    /** The coverage of the files made from these. */
    CompactionWriter.Coverage coverage() {
      List<FileRef> refs = files().stream().map(TabletFile::ref).toList();
      SortedSet<String> families = new TreeSet<>();
      refs.forEach(ref -> families.addAll(ref.families()));
      return new CompactionWriter.Coverage(
          refs.stream().mapToLong(FileRef::minSequence).min().orElseThrow(),
          refs.stream().mapToLong(FileRef::maxSequence).max().orElseThrow(),
          stack.knownTo(layers),
          families,
          stack.collectedMicros());
    }

    /** The right to replace only these of the stack's layers. */
    Claim of(List<FileStack.Layer> some) {
      return new Claim(stack, some, rules);
    }

    /**
     * The same claim in parts of at most this many files, as far as layers allow, in the order of
     * layers.
     */
    List<Claim> parts(int filesMax) {
      List<Claim> parts = new ArrayList<>();
      List<FileStack.Layer> part = new ArrayList<>();
      int files = 0;
      for (FileStack.Layer layer : layers) {
        if (!part.isEmpty() && files + layer.files().size() > filesMax) {
          parts.add(new Claim(stack, List.copyOf(part), rules));
          part.clear();
          files = 0;
        }
        part.add(layer);
        files += layer.files().size();
      }
      parts.add(new Claim(stack, part, rules));
      return parts;
    }

    /** Whether the claim includes the oldest layer of the stack. */
    boolean hasOldest() {
      return layers.contains(stack.layers().get(stack.layers().size() - 1));
    }
  }

  private final TabletCore core;
  private final Lock lock;
  private final Condition released;

  @GuardedBy("lock")
  private final Set<TabletFile> claimed = new HashSet<>();

  @GuardedBy("lock")
  private final Set<TabletFile> failed = new HashSet<>();

  @GuardedBy("lock")
  private int waitingForAll;

  CompactionClaims(TabletCore core) {
    this.core = core;
    this.lock = core.environment().runtime().newLock();
    this.released = lock.newCondition();
  }

  /** Claims the first free stack of which {@code choice} selects layers. */
  Optional<Claim> take(Choice choice) {
    lock.lock();
    try {
      // Acquired under the lock: the state has no file that a released claim has replaced.
      TabletState state = core.current().acquire();
      try {
        Optional<Claim> first = first(state, choice);
        first.ifPresent(this::enter);
        return first;
      } finally {
        // A claim holds only its files, and in particular not the memtables of this state.
        state.release();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@link #take} would find something now. */
  boolean any(Choice choice) {
    lock.lock();
    try {
      return first(core.current().peek(), choice).isPresent();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private Optional<Claim> first(TabletState state, Choice choice) {
    SchemaRules now = core.rules();
    Optional<Claim> last = Optional.empty();
    for (FileStack stack : state.stacks(now)) {
      if (waitingForAll == 0 && Collections.disjoint(stack.files(), claimed)) {
        Optional<Claim> claim =
            choice.apply(stack, now).map(layers -> new Claim(stack, layers, now));
        if (claim.isPresent() && Collections.disjoint(stack.files(), failed)) {
          return claim;
        }
        if (last.isEmpty()) {
          last = claim;
        }
      }
    }
    return last;
  }

  /** Waits until nothing is claimed, and claims everything. */
  List<Claim> takeAll() throws IOException {
    lock.lock();
    try {
      awaitNone();
      TabletState state = core.current().acquire();
      try {
        return claimAll(state);
      } finally {
        state.release();
      }
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for other compactions");
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the schema after the state: what is written by a family must not be dropped by a schema
   * that does not have it yet.
   */
  @GuardedBy("lock")
  private List<Claim> claimAll(TabletState state) {
    SchemaRules now = core.rules();
    List<Claim> claims = new ArrayList<>();
    for (FileStack stack : state.stacks(now)) {
      Claim claim = new Claim(stack, stack.layers(), now);
      enter(claim);
      claims.add(claim);
    }
    return claims;
  }

  /** Waits until no claims are left; meanwhile no new ones are made. */
  @GuardedBy("lock")
  private void awaitNone() throws InterruptedException {
    waitingForAll++;
    try {
      while (!claimed.isEmpty()) {
        released.await();
      }
    } finally {
      waitingForAll--;
    }
  }

  @GuardedBy("lock")
  private void enter(Claim claim) {
    claim.stack().files().forEach(TabletFile::retain);
    claimed.addAll(claim.stack().files());
  }

  /** Ends a claim. */
  void release(Claim claim, boolean succeeded) {
    lock.lock();
    try {
      failed.removeAll(claim.stack().files());
      if (!succeeded) {
        failed.addAll(claim.stack().files());
        failed.retainAll(core.current().peek().files()); // The others were replaced meanwhile.
      }
      claim.stack().files().forEach(claimed::remove);
      released.signalAll();
    } finally {
      lock.unlock();
    }
    claim.stack().files().forEach(TabletFile::release);
  }
}
