package io.stele.record;

import java.util.List;
import java.util.Optional;

/**
 * One change of the durable record of a tablet, applied whole or not at all.
 *
 * @param reason for the tablet's events: "minor compaction", "merging compaction", "major
 *     compaction"
 * @param added files that are the tablet's from now on; whole and synced
 * @param removed files that are no longer the tablet's; if the tablet has several parts of a file,
 *     only this part
 * @param redoPoint everything up to this sequence number is in the files; never goes back
 * @param highestTimestamp the highest timestamp the tablet has assigned, microseconds; never goes
 *     back
 * @param coversReplay whether the files now hold all that was replayed when the tablet was opened,
 *     so that this tablet needs no log any more but the current server's own
 * @param pinned pins that are the tablet's from now on
 * @param unpinned names of pins that are no longer the tablet's
 * @param pending the changes of jobs that wait from now on for the end of their jobs
 * @param resolved jobs for which nothing waits any more: their files are among {@code added}, or
 *     dropped
 * @param cleared which rows were cleared, if the edit clears any
 */
public record ManifestEdit(
    String reason,
    List<FileRef> added,
    List<FileRef> removed,
    long redoPoint,
    long highestTimestamp,
    boolean coversReplay,
    List<Pin> pinned,
    List<String> unpinned,
    List<Pending> pending,
    List<String> resolved,
    Optional<ClearedRows> cleared) {

  public ManifestEdit {
    pinned = List.copyOf(pinned);
    unpinned = List.copyOf(unpinned);
    pending = List.copyOf(pending);
    resolved = List.copyOf(resolved);
    added = List.copyOf(added);
    removed = List.copyOf(removed);
  }

  /** An edit that changes nothing yet, made for that {@link #reason}. */
  public static Builder builder(String reason) {
    return new Builder(reason);
  }

  /** Builds an edit; what is not set stays as it is. Not thread safe. */
  public static final class Builder {
    private final String reason;
    private List<FileRef> added = List.of();
    private List<FileRef> removed = List.of();
    private long redoPoint;
    private long highestTimestamp;
    private boolean coversReplay;
    private List<Pin> pinned = List.of();
    private List<String> unpinned = List.of();
    private List<Pending> pending = List.of();
    private List<String> resolved = List.of();
    private Optional<ClearedRows> cleared = Optional.empty();

    private Builder(String reason) {
      this.reason = reason;
    }

    /** {@link ManifestEdit#added}. */
    public Builder add(List<FileRef> files) {
      added = files;
      return this;
    }

    /** {@link ManifestEdit#removed}. */
    public Builder remove(List<FileRef> files) {
      removed = files;
      return this;
    }

    /** {@link ManifestEdit#redoPoint} and {@link ManifestEdit#highestTimestamp}. */
    public Builder reach(long redo, long timestamp) {
      redoPoint = redo;
      highestTimestamp = timestamp;
      return this;
    }

    /** {@link ManifestEdit#coversReplay}. */
    public Builder coversReplay(boolean covers) {
      coversReplay = covers;
      return this;
    }

    /** {@link ManifestEdit#pinned}. */
    public Builder pin(Pin pin) {
      pinned = List.of(pin);
      return this;
    }

    /** {@link ManifestEdit#unpinned}. */
    public Builder unpin(String name) {
      unpinned = List.of(name);
      return this;
    }

    /** {@link ManifestEdit#pending}. */
    public Builder pending(List<? extends Pending> changes) {
      pending = List.copyOf(changes);
      return this;
    }

    /** {@link ManifestEdit#resolved}. */
    public Builder resolve(String job) {
      resolved = List.of(job);
      return this;
    }

    /** {@link ManifestEdit#cleared}. */
    public Builder clear(ClearedRows rows) {
      cleared = Optional.of(rows);
      return this;
    }

    /** The edit. */
    public ManifestEdit build() {
      return new ManifestEdit(
          reason,
          added,
          removed,
          redoPoint,
          highestTimestamp,
          coversReplay,
          pinned,
          unpinned,
          pending,
          resolved,
          cleared);
    }
  }
}
