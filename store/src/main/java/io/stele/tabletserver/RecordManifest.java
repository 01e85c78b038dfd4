package io.stele.tabletserver;

import io.stele.metadata.RecordChangedException;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.SteleException;
import io.stele.record.ManifestEdit;
import io.stele.runtime.IoFunction;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Manifest;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The manifest of a hosted tablet: its record in METADATA. Every change of it is one conditional
 * write.
 *
 * <p>A change that was certainly not made is retried as long as the server is alive, because
 * METADATA may be moving to another server. One that METADATA refuses fails, and the tablet goes on
 * without it. A change whose outcome is unknown, or whose condition does not hold, stops the
 * server: it must not act on a tablet that it may have lost.
 *
 * <p>Safe for use by any number of threads: one change is made at a time.
 */
final class RecordManifest implements Manifest {
  private static final Logger LOG = LoggerFactory.getLogger(RecordManifest.class);

  /** With so many dropped files, the record is read again to learn which of them were swept. */
  private static final int DROPPED_MANY = 500;

  /** How many more are dropped before it is read once more. */
  private static final int DROPPED_BETWEEN_READS = 100;

  private final TabletRecords records;
  private final ServerLife life;
  private final Consumer<TabletRecord> changed;
  // One change at a time; held while it waits for METADATA, however long that takes.
  private final Lock changing;
  private volatile TabletRecord record; // Written under changing, read without it.

  private int droppedSinceRead; // Under changing.

  /**
   * The manifest of one tablet.
   *
   * @param changed gets the record after each change of it while the tablet is served, before
   *     anything relies on the change
   */
  RecordManifest(
      ProcessRuntime runtime,
      TabletRecords records,
      TabletRecord record,
      ServerLife life,
      Consumer<TabletRecord> changed) {
    this.changed = changed;
    this.changing = runtime.newLock();
    this.records = records;
    this.record = record;
    this.life = life;
  }

  /** The record as it was last read or written; never waits for a change in progress. */
  TabletRecord record() {
    return record;
  }

  /** Sets the tablet's record that a split has just written. */
  void written(TabletRecord now) {
    changing.lock();
    try {
      record = now;
    } finally {
      changing.unlock();
    }
  }

  @Override
  public void commit(ManifestEdit edit) throws IOException {
    change(this::withoutSwept);
    change(
        before -> {
          TabletRecord next = records.edit(before, edit);
          droppedSinceRead += edit.removed().size();
          return next;
        });
  }

  /**
   * Now and then forgets the dropped files that the master has swept. Otherwise the record would
   * seem to be full of them, and {@link TabletRecords#edit} would name no more.
   */
  private TabletRecord withoutSwept(TabletRecord before) throws InterruptedIOException {
    if (before.dropped().size() < DROPPED_MANY || droppedSinceRead < DROPPED_BETWEEN_READS) {
      return before;
    }
    try {
      TabletRecord now = records.withoutSwept(before);
      droppedSinceRead = 0;
      return now;
    } catch (InterruptedIOException e) {
      throw e; // The server stops.
    } catch (IOException | SteleException e) {
      LOG.info("Cannot learn now which files of tablet {} were swept", before.id(), e);
      return before;
    }
  }

  /**
   * Makes the change that assigns the serving of the tablet to this server. Nobody acts on it yet,
   * so if the record now names another server, this server continues without the tablet.
   *
   * @param change one conditional write of the record; returns the changed record
   * @throws RecordChangedException if it does: nothing was changed
   * @throws ChangeRefusedException if METADATA refuses the change: nothing was changed
   * @throws IOException if the server ends before the change is made; nothing was changed
   */
  void take(IoFunction<TabletRecord, TabletRecord> change) throws IOException {
    changing.lock();
    try {
      RecordChangedException[] lost = new RecordChangedException[1];
      record =
          life.untilKnown(
              "take over tablet " + record.id(),
              () -> {
                try {
                  return change.apply(record);
                } catch (RecordChangedException e) {
                  lost[0] = e;
                  return record;
                }
              });
      if (lost[0] != null) {
        throw lost[0];
      }
    } finally {
      changing.unlock();
    }
  }

  /**
   * Makes {@code change}, however long METADATA is unavailable.
   *
   * @param change one conditional write of the record; returns the changed record
   * @throws ChangeRefusedException if METADATA refuses it; nothing was changed
   * @throws IOException if the server ends before it is made; nothing was changed
   */
  void change(IoFunction<TabletRecord, TabletRecord> change) throws IOException {
    changing.lock();
    try {
      record =
          life.untilKnown("change the record of tablet " + record.id(), () -> change.apply(record));
      changed.accept(record);
    } finally {
      changing.unlock();
    }
  }
}
