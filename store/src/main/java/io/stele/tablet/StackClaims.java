package io.stele.tablet;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Which files are being compacted: of every stack one compaction at a time, other than minor ones.
 * Safe for use by any number of threads.
 */
final class StackClaims {
  /**
   * The right to replace some neighbouring layers of a stack; the snapshot holds their files.
   *
   * @param layers of the stack, the newest first
   */
  record Claim(Snapshot snapshot, FileStack stack, List<FileStack.Layer> layers) {
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
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition released = lock.newCondition();
  // Guarded by lock.
  private final Set<TabletFile> claimed = new HashSet<>();
  private int waitingForAll;

  StackClaims(Snapshots snapshots, Supplier<SchemaRules> rules) {
    this.snapshots = snapshots;
    this.rules = rules;
  }

  /** Claims the first stack that nobody has claimed and of which {@code choice} takes something. */
  Optional<Claim> take(Function<FileStack, Optional<List<FileStack.Layer>>> choice) {
    lock.lock();
    try {
      if (waitingForAll > 0) {
        return Optional.empty();
      }
      // Acquired under the lock: what was replaced before a claim was released is not in it.
      Snapshot snapshot = snapshots.acquire();
      for (FileStack stack : snapshot.stacks(rules.get())) {
        if (Collections.disjoint(stack.files(), claimed)) {
          Optional<List<FileStack.Layer>> layers = choice.apply(stack);
          if (layers.isPresent()) {
            claimed.addAll(stack.files());
            return Optional.of(new Claim(snapshot, stack, layers.get()));
          }
        }
      }
      snapshot.release();
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until nothing is claimed, and claims everything. */
  List<Claim> takeAll() throws IOException {
    lock.lock();
    waitingForAll++;
    try {
      while (!claimed.isEmpty()) {
        released.await();
      }
      List<Claim> claims = new ArrayList<>();
      Snapshot snapshot = snapshots.acquire();
      for (FileStack stack : snapshot.stacks(rules.get())) {
        snapshot.retain(); // Which this holds itself, so that it can.
        claimed.addAll(stack.files());
        claims.add(new Claim(snapshot, stack, stack.layers()));
      }
      snapshot.release();
      return claims;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (InterruptedIOException)
          new InterruptedIOException("interrupted before a compaction").initCause(e);
    } finally {
      waitingForAll--;
      lock.unlock();
    }
  }

  /** Ends a claim. */
  void release(Claim claim) {
    lock.lock();
    try {
      claim.stack().files().forEach(claimed::remove);
      released.signalAll();
    } finally {
      lock.unlock();
    }
    claim.snapshot().release();
  }
}
