package io.stele.tablet;

import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
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
import java.util.function.Supplier;

/**
 * Which files are being compacted: of every stack one compaction at a time, other than minor ones.
 * A stack of which the last compaction failed comes after those of which it did not, so that damage
 * in one locality group does not keep the others waiting.
 *
 * <p>Safe for use by any number of threads.
 */
final class StackClaims {
  /** What a compaction is to take of a stack under some rules; empty: nothing. */
  interface Choice extends BiFunction<FileStack, SchemaRules, Optional<List<FileStack.Layer>>> {}

  /**
   * The right to replace some neighbouring layers of a stack, whose files it holds.
   *
   * @param layers of the stack, the newest first
   * @param rules under which the files are this stack: to be written under no others
   */
  record Claim(FileStack stack, List<FileStack.Layer> layers, SchemaRules rules) {
    /** The files to be replaced. */
    List<TabletFile> files() {
      return layers.stream().flatMap(layer -> layer.files().stream()).toList();
    }

    /** All families that these files have. */
    SortedSet<String> families() {
      SortedSet<String> families = new TreeSet<>();
      files().forEach(file -> families.addAll(file.ref().families()));
      return families;
    }

    /** Whether nothing of the stack is older. */
    boolean hasOldest() {
      return layers.contains(stack.layers().get(stack.layers().size() - 1));
    }
  }

  private final Snapshots snapshots;
  private final Supplier<SchemaRules> rules;
  private final Lock lock;
  private final Condition released;
  // Guarded by lock.
  private final Set<TabletFile> claimed = new HashSet<>();
  private final Set<TabletFile> failed = new HashSet<>();
  private int waitingForAll;

  StackClaims(ProcessRuntime runtime, Snapshots snapshots, Supplier<SchemaRules> rules) {
    this.lock = runtime.newLock();
    this.released = lock.newCondition();
    this.snapshots = snapshots;
    this.rules = rules;
  }

  /** Claims a stack that nobody has claimed and of which {@code choice} takes something. */
  Optional<Claim> take(Choice choice) {
    lock.lock();
    try {
      // Acquired under the lock: what was replaced before a claim was released is not in it.
      Snapshot snapshot = snapshots.acquire();
      try {
        Optional<Claim> first = first(snapshot, choice);
        first.ifPresent(this::enter);
        return first;
      } finally {
        // A claim holds its files and nothing else: above all not the memtables of this moment.
        snapshot.release();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@link #take} would find something now. */
  boolean any(Choice choice) {
    lock.lock();
    try {
      return first(snapshots.peek(), choice).isPresent();
    } finally {
      lock.unlock();
    }
  }

  private Optional<Claim> first(Snapshot snapshot, Choice choice) {
    SchemaRules now = rules.get();
    Optional<Claim> last = Optional.empty();
    for (FileStack stack : snapshot.stacks(now)) {
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
    waitingForAll++;
    try {
      while (!claimed.isEmpty()) {
        released.await();
      }
      SchemaRules now = rules.get();
      List<Claim> claims = new ArrayList<>();
      Snapshot snapshot = snapshots.acquire();
      for (FileStack stack : snapshot.stacks(now)) {
        Claim claim = new Claim(stack, stack.layers(), now);
        enter(claim);
        claims.add(claim);
      }
      snapshot.release();
      return claims;
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for other compactions");
    } finally {
      waitingForAll--;
      lock.unlock();
    }
  }

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
      }
      claim.stack().files().forEach(claimed::remove);
      released.signalAll();
    } finally {
      lock.unlock();
    }
    claim.stack().files().forEach(TabletFile::release);
  }
}
