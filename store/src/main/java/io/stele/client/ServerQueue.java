package io.stele.client;

import io.stele.metadata.Operations;
import io.stele.wire.Address;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The operations that wait for, or are under way to, one destination. Guarded by its sender. */
final class ServerQueue {
  /**
   * The bytes of a full batch: less than half of G1's smallest region. A larger array gets regions
   * of its own, and G1 starts to mark sooner.
   */
  private static final int BATCH_BYTES = 448 << 10;

  /** The mutations of a full batch. */
  private static final int BATCH_MUTATIONS = 1000;

  /** A mutation with less time left than this does not share a batch with others. */
  private static final Duration URGENT = Duration.ofSeconds(2);

  /** How many batches may be under way to one server: applied, flushed and on their way. */
  private static final int BATCHES_UNDER_WAY = 3;

  /** A batch goes to one server, has ids of one client, and one time limit. */
  record Destination(Address server, Operations operations, Duration limit) {}

  final Destination destination;

  /**
   * The waiting mutations in the order of their turns. Some may have left the queue, or be in this
   * twice; each waits at most once.
   */
  private final ArrayDeque<SubmittedOperation> turns = new ArrayDeque<>();

  private final Optional<ServerQueue> self = Optional.of(this);
  private int waiting;
  private long waitingBytes;
  int underWay;
  boolean sending;

  ServerQueue(Destination destination) {
    this.destination = destination;
  }

  boolean isDue() {
    boolean full = waitingBytes >= BATCH_BYTES || waiting >= BATCH_MUTATIONS;
    return waiting > 0 && (underWay == 0 || (full && underWay < BATCHES_UNDER_WAY));
  }

  void add(SubmittedOperation submitted) {
    submitted.queue = self;
    turns.add(submitted);
    waiting++;
    waitingBytes += submitted.bytes;
  }

  /** Takes out one that waits here. */
  void remove(SubmittedOperation submitted) {
    submitted.queue = Optional.empty();
    waiting--;
    waitingBytes -= submitted.bytes;
  }

  /**
   * Takes a batch out, the first mutation of each row: with it go those that wait for it, where
   * there is room. Mutations that are too late to be sent go to {@code late} instead, and those
   * with little time left do not go with others: the whole batch has no more time than each of
   * them.
   */
  List<SubmittedOperation> nextBatch(List<SubmittedOperation> late) {
    List<SubmittedOperation> batch = new ArrayList<>();
    List<SubmittedOperation> others = new ArrayList<>(); // Whose turn is next.
    long bytes = 0;
    boolean urgent = false;
    while (!turns.isEmpty() && batch.size() < BATCH_MUTATIONS && others.size() < BATCH_MUTATIONS) {
      SubmittedOperation next = turns.element();
      if (next.queue.isPresent() && next.queue.get() == this) {
        Duration left = next.attempts.deadline().remaining();
        boolean nextIsUrgent = left.compareTo(URGENT) < 0;
        if (next.attempts.isTooLate()) {
          late.add(next);
          remove(next);
        } else if (!batch.isEmpty() && urgent != nextIsUrgent) {
          others.add(next);
        } else if (batch.isEmpty() || bytes + next.bytes <= BATCH_BYTES) {
          urgent = nextIsUrgent;
          bytes += next.bytes;
          batch.add(next);
          remove(next);
        } else {
          break;
        }
      }
      turns.remove();
    }
    for (int i = others.size() - 1; i >= 0; i--) {
      turns.addFirst(others.get(i));
    }
    if (waiting == 0) {
      turns.clear(); // All have left.
    }
    int count = batch.size();
    for (SubmittedOperation first : batch) {
      if (count < BATCH_MUTATIONS && bytes < BATCH_BYTES) {
        first.followers =
            first.writer.takeFollowers(first, BATCH_MUTATIONS - count, BATCH_BYTES - bytes);
        count += first.followers.size();
        for (SubmittedOperation next : first.followers) {
          bytes += next.bytes;
        }
      }
    }
    return batch;
  }
}
