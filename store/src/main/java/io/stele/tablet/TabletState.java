package io.stele.tablet;

import io.stele.memtable.Memtable;
import io.stele.runtime.ProcessRuntime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memtables and files of a tablet at one time: the memtable that takes writes, the frozen ones
 * that wait for their minor compaction, and the SSTables; each kind with the newest first. A
 * memtable has higher sequence numbers than the next one, and than all SSTables; a layer of a
 * {@link FileStack} has higher ones than the next layer. Immutable; replaced as a whole.
 *
 * <p>It holds its memtables, and keeps its files open. A reader calls {@link #retain} before and
 * {@link #release} after.
 */
final class TabletState {
  /**
   * A memtable that takes no more writes.
   *
   * @param memtable its cells
   * @param boundary the highest sequence number in it
   * @param durable completes when the read point has reached the boundary
   */
  record Frozen(Memtable memtable, long boundary, CompletableFuture<Void> durable) {}

  /**
   * What compactions have dropped for its age since the tablet was opened.
   *
   * @param count how many have
   * @param untilMicros the highest time from which they computed ages
   */
  record Expiry(long count, long untilMicros) {
    static final Expiry NONE = new Expiry(0, TabletClock.NEVER);

    private Expiry with(CompactionWriter.Output output) {
      return output.expiredMicros() == TabletClock.NEVER
          ? this
          : new Expiry(count + 1, Math.max(untilMicros, output.expiredMicros()));
    }
  }

  /** The stacks into which some rules divide the files. */
  private record Stacked(SchemaRules rules, List<FileStack> stacks) {}

  private final Memtable active;
  private final List<Frozen> frozen;
  private final List<TabletFile> files;
  private final long fileBytes;
  private final long redoPoint;
  private final long oldestReadable;
  private final Expiry expiry;
  private volatile Optional<Stacked> stacked = Optional.empty();
  private final AtomicInteger holders = new AtomicInteger(1);

  /** A state in which nothing was dropped for its age. */
  TabletState(
      Memtable active,
      List<Frozen> frozen,
      List<TabletFile> files,
      long redoPoint,
      long oldestReadable) {
    this(active, frozen, files, redoPoint, oldestReadable, Expiry.NONE);
  }

  /**
   * A state; its creator is the first holder.
   *
   * @param redoPoint everything up to this number is in the files
   * @param oldestReadable the lowest read point for which the files still have everything, but for
   *     what is too old
   */
  private TabletState(
      Memtable active,
      List<Frozen> frozen,
      List<TabletFile> files,
      long redoPoint,
      long oldestReadable,
      Expiry expiry) {
    this.active = active;
    this.frozen = List.copyOf(frozen);
    this.files = List.copyOf(files);
    this.fileBytes = files.stream().mapToLong(TabletFile::bytes).sum();
    this.redoPoint = redoPoint;
    this.oldestReadable = oldestReadable;
    this.expiry = expiry;
    active.retain();
    frozen.forEach(one -> one.memtable().retain());
    files.forEach(TabletFile::retain);
  }

  Memtable active() {
    return active;
  }

  List<Frozen> frozen() {
    return frozen;
  }

  List<TabletFile> files() {
    return files;
  }

  /** The bytes of the tablet's parts of all files. */
  long fileBytes() {
    return fileBytes;
  }

  /** The bytes of all memtables. */
  long memtableBytes() {
    long bytes = active.bytes();
    for (Frozen one : frozen) {
      bytes += one.memtable().bytes();
    }
    return bytes;
  }

  long redoPoint() {
    return redoPoint;
  }

  long oldestReadable() {
    return oldestReadable;
  }

  Expiry expiry() {
    return expiry;
  }

  /** The stacks into which {@code rules} divide the files; computed on first use. */
  List<FileStack> stacks(SchemaRules rules) {
    Optional<Stacked> known = stacked;
    if (known.isPresent() && known.get().rules() == rules) {
      return known.get().stacks();
    }
    List<FileStack> stacks = FileStack.of(files, rules, redoPoint);
    stacked = Optional.of(new Stacked(rules, stacks));
    return stacks;
  }

  /** This state with {@code empty} taking the writes, and the memtable before it frozen. */
  TabletState freeze(Memtable empty, long boundary, CompletableFuture<Void> durable) {
    List<Frozen> more = new ArrayList<>();
    more.add(new Frozen(active, boundary, durable));
    more.addAll(frozen);
    return new TabletState(empty, more, files, redoPoint, oldestReadable, expiry);
  }

  /**
   * This state with the memtables of {@code written} replaced by the files made from them, if any.
   */
  TabletState minorCompacted(List<Frozen> written, CompactionWriter.Output output) {
    List<Frozen> left = new ArrayList<>(frozen);
    left.removeAll(written);
    List<TabletFile> more = new ArrayList<>(output.files());
    more.addAll(files);
    return new TabletState(
        active,
        left,
        more,
        Math.max(redoPoint, written.get(0).boundary()),
        Math.max(oldestReadable, output.readableFrom()),
        expiry.with(output));
  }

  /**
   * This state with {@code made} in place of {@code removed}: files whose sequence numbers are
   * above all others, or other references to the same files. Every read point stays readable.
   */
  TabletState taken(List<TabletFile> removed, List<TabletFile> made, long upTo) {
    return new TabletState(active, frozen, replaced(removed, made), upTo, oldestReadable, expiry);
  }

  /** This state with the files of {@code inputs} replaced. */
  TabletState compacted(List<TabletFile> inputs, CompactionWriter.Output output) {
    return new TabletState(
        active,
        frozen,
        replaced(inputs, output.files()),
        redoPoint,
        Math.max(oldestReadable, output.readableFrom()),
        expiry.with(output));
  }

  /**
   * This state after rows were cleared as operation {@code upTo}, which is above everything in
   * memory. Read points below it are no longer readable.
   */
  TabletState cleared(List<TabletFile> removed, List<TabletFile> made, long upTo) {
    return new TabletState(active, frozen, replaced(removed, made), upTo, upTo, expiry);
  }

  /** This state without files that no reader sees. */
  TabletState without(List<TabletFile> unseen) {
    return new TabletState(
        active, frozen, replaced(unseen, List.of()), redoPoint, oldestReadable, expiry);
  }

  private List<TabletFile> replaced(List<TabletFile> removed, List<TabletFile> made) {
    List<TabletFile> other = new ArrayList<>(files);
    other.removeAll(removed);
    other.addAll(made);
    other.sort(TabletFile.NEWEST_FIRST);
    return other;
  }

  /** Holds the state; false if its last holder has already released it. */
  boolean retain() {
    int now = holders.get();
    while (now > 0) {
      if (holders.compareAndSet(now, now + 1)) {
        return true;
      }
      now = holders.get();
    }
    return false;
  }

  /**
   * Releases the state. When its last holder does so, its memtables and files are released, unless
   * another state has them.
   */
  void release() {
    if (holders.decrementAndGet() == 0) {
      releaseAll();
    }
  }

  /** Does what {@link #release} does, without waiting: another thread closes the files. */
  void releaseWithoutWaiting(ProcessRuntime runtime) {
    if (holders.decrementAndGet() == 0) {
      runtime.start("close-files", this::releaseAll);
    }
  }

  private void releaseAll() {
    active.release();
    frozen.forEach(one -> one.memtable().release());
    files.forEach(TabletFile::release);
  }
}
