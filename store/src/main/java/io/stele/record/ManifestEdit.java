package io.stele.record;

import java.util.List;
import java.util.Optional;

/**
 * One change of the durable record of a tablet, applied whole or not at all.
 *
 * @param reason for the tablet's events: "minor compaction", "merging compaction", "major
 *     compaction"
 * @param added files that are the tablet's from now on; whole and synced
 * @param removed files that are no longer the tablet's: of a file of which it has several parts,
 *     this one
 * @param redoPoint everything up to this sequence number is in the files; never goes back
 * @param highestTimestamp the highest timestamp the tablet has assigned, microseconds; never goes
 *     back
 * @param coversReplay whether the files now hold all that was replayed when the tablet was opened,
 *     so that this tablet needs no log any more but the current server's own
 * @param pinned pins that are the tablet's from now on
 * @param unpinned names of pins that are no longer the tablet's
 * @param pending files that wait for the end of their jobs from now on
 * @param settled jobs whose files do not wait any more: they are among {@code added}, or struck
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
    List<PendingFile> pending,
    List<String> settled,
    Optional<ClearedRows> cleared) {
  /** An edit of files. */
  public ManifestEdit(
      String reason,
      List<FileRef> added,
      List<FileRef> removed,
      long redoPoint,
      long highestTimestamp,
      boolean coversReplay) {
    this(
        reason,
        added,
        removed,
        redoPoint,
        highestTimestamp,
        coversReplay,
        List.of(),
        List.of(),
        List.of(),
        List.of(),
        Optional.empty());
  }

  /** An edit of files and pins. */
  public ManifestEdit(
      String reason,
      List<FileRef> added,
      List<FileRef> removed,
      long redoPoint,
      long highestTimestamp,
      boolean coversReplay,
      List<Pin> pinned,
      List<String> unpinned) {
    this(
        reason,
        added,
        removed,
        redoPoint,
        highestTimestamp,
        coversReplay,
        pinned,
        unpinned,
        List.of(),
        List.of(),
        Optional.empty());
  }

  /** An edit that clears nothing. */
  public ManifestEdit(
      String reason,
      List<FileRef> added,
      List<FileRef> removed,
      long redoPoint,
      long highestTimestamp,
      boolean coversReplay,
      List<Pin> pinned,
      List<String> unpinned,
      List<PendingFile> pending,
      List<String> settled) {
    this(
        reason,
        added,
        removed,
        redoPoint,
        highestTimestamp,
        coversReplay,
        pinned,
        unpinned,
        pending,
        settled,
        Optional.empty());
  }

  /** The same, which also clears rows. */
  public ManifestEdit clearing(ClearedRows now) {
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
        settled,
        Optional.of(now));
  }

  public ManifestEdit {
    pinned = List.copyOf(pinned);
    unpinned = List.copyOf(unpinned);
    pending = List.copyOf(pending);
    settled = List.copyOf(settled);
    added = List.copyOf(added);
    removed = List.copyOf(removed);
  }
}
