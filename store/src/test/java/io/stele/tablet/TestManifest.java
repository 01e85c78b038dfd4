package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.LoweredCounts;
import io.stele.record.ManifestEdit;
import io.stele.record.Pending;
import io.stele.record.Pin;
import io.stele.record.RecordChangeSize;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A tablet's durable record, in memory. Safe for use by any number of threads. */
final class TestManifest implements Manifest {
  /** What becomes of the next commit. */
  enum Mood {
    WORKS,
    FAILS,
    UNKNOWN_NOT_DONE,
    UNKNOWN_DONE,
    NOT_OURS
  }

  private TabletSpec record;
  private int alterations;
  private Mood mood = Mood.WORKS;
  private boolean coversReplay;
  private Runnable beforeAnswer = () -> {};
  private final Set<String> dropped = new LinkedHashSet<>();

  TestManifest(TabletSpec record) {
    this.record = record;
    this.alterations = record.lowered().latest();
  }

  synchronized TabletSpec record() {
    return record;
  }

  /** The record under the next epoch: what the next server opens. */
  synchronized TabletSpec reassigned() {
    record =
        new TabletSpec(
            record.id(),
            record.epoch() + 1,
            record.extent(),
            record.schema(),
            record.files(),
            record.redoPoint(),
            record.highestTimestamp(),
            record.pins(),
            record.pending(),
            record.lowered());
    return record;
  }

  /** Gives the table another schema, as its node has it. */
  synchronized void alter(TableSchema schema) {
    LoweredCounts lowered = record.lowered().altered(record.schema(), schema, ++alterations);
    record =
        new TabletSpec(
            record.id(),
            record.epoch(),
            record.extent(),
            schema,
            record.files(),
            record.redoPoint(),
            record.highestTimestamp(),
            record.pins(),
            record.pending(),
            lowered);
  }

  synchronized void next(Mood next) {
    mood = next;
  }

  /** Has {@code action} run after each commit was made, and before its caller knows. */
  synchronized void beforeAnswer(Runnable action) {
    beforeAnswer = action;
  }

  synchronized boolean coversReplay() {
    return coversReplay;
  }

  /** The paths of files that were the tablet's: the sweep deletes them. */
  synchronized Set<String> dropped() {
    return Set.copyOf(dropped);
  }

  /**
   * As the server sees it that was given the tablet under the present epoch: what it commits once
   * another has been given the tablet is refused.
   */
  Manifest ofPresentEpoch() {
    long epoch = record().epoch();
    return edit -> {
      synchronized (this) {
        if (record.epoch() != epoch) {
          throw SteleException.refused("another server has the tablet");
        }
        commit(edit);
      }
    };
  }

  @Override
  public synchronized void commit(ManifestEdit edit) throws IOException {
    Mood now = mood;
    mood = Mood.WORKS;
    switch (now) {
      case WORKS -> {
        apply(edit);
        beforeAnswer.run();
      }
      case FAILS -> throw new IOException("METADATA is away");
      case UNKNOWN_DONE -> {
        apply(edit);
        throw SteleException.outcomeUnknown("lost the answer", new IOException("reset"));
      }
      case UNKNOWN_NOT_DONE ->
          throw SteleException.outcomeUnknown("lost the request", new IOException("reset"));
      case NOT_OURS -> throw SteleException.refused("another server has the tablet");
    }
  }

  private void apply(ManifestEdit edit) {
    RecordChangeSize size = new RecordChangeSize(record.extent());
    edit.removed().forEach(size::remove);
    edit.added().forEach(size::put);
    if (!size.fits()) {
      throw new AssertionError("METADATA takes no such change: " + size);
    }
    List<FileRef> files = new ArrayList<>(record.files());
    for (FileRef file : edit.removed()) {
      if (!files.remove(file)) {
        throw new AssertionError("not there to be removed: " + file);
      }
    }
    edit.removed().stream()
        .map(FileRef::path)
        .filter(path -> files.stream().noneMatch(file -> file.path().equals(path)))
        .forEach(dropped::add);
    files.addAll(edit.added());
    if (edit.redoPoint() < record.redoPoint()
        || edit.highestTimestamp() < record.highestTimestamp()) {
      throw new AssertionError("goes back: " + edit);
    }
    coversReplay = edit.coversReplay();
    List<Pin> pins = new ArrayList<>(record.pins());
    pins.removeIf(pin -> edit.unpinned().contains(pin.name()));
    pins.addAll(edit.pinned());
    List<Pending> pending = new ArrayList<>(record.pending());
    pending.removeIf(file -> edit.resolved().contains(file.job()));
    pending.addAll(edit.pending());
    record =
        new TabletSpec(
            record.id(),
            record.epoch(),
            record.extent(),
            record.schema(),
            files,
            edit.redoPoint(),
            edit.highestTimestamp(),
            pins,
            pending,
            record.lowered());
  }
}
