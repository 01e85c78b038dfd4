package io.stele.tabletserver;

import io.stele.log.FencedLogs;
import io.stele.log.LogRecord;
import io.stele.log.Losses;
import io.stele.log.RecordSource;
import io.stele.metadata.Layout;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import java.io.IOException;
import java.util.Iterator;
import java.util.Optional;

/**
 * The records of a tablet above its redo point in the logs of fenced servers. They are read on
 * demand, so that only one record at a time is in memory. Not safe for use by several threads.
 */
final class LogReplay implements RecordSource {
  private final FencedLogs fenced;
  private final Layout layout;
  private final TabletRecord record;
  private final ReplayRoom.Share room;
  private final long sinceNanos;
  private final Iterator<ServerId> logs;
  private Losses losses = Losses.NONE;
  private Optional<RecordSource> current = Optional.empty();

  /**
   * The records that {@code record} names.
   *
   * @param self this server. Its own log has nothing to replay: it either unloads tablets
   *     completely or ends
   * @param sinceNanos when the tablet was asked for
   */
  LogReplay(
      FencedLogs fenced,
      Layout layout,
      TabletRecord record,
      ServerId self,
      ReplayRoom.Share room,
      long sinceNanos) {
    this.fenced = fenced;
    this.layout = layout;
    this.record = record;
    this.room = room;
    this.sinceNanos = sinceNanos;
    // The record names only fenced servers: a server that unloads a tablet removes its own log.
    this.logs = record.logs().stream().filter(log -> !log.equals(self)).toList().iterator();
  }

  @Override
  public Optional<LogRecord> next() throws IOException {
    while (true) {
      if (current.isPresent()) {
        Optional<LogRecord> next = current.get().next();
        if (next.isPresent()) {
          room.await(next.get().cells().length());
          return next;
        }
        losses = losses.and(current.get().losses());
        close();
      }
      if (!logs.hasNext()) {
        return Optional.empty();
      }
      current =
          Optional.of(
              fenced.read(
                  layout.recovery(logs.next()), record.id(), record.redo().sequence(), sinceNanos));
    }
  }

  @Override
  public Losses losses() {
    return losses;
  }

  @Override
  public void close() throws IOException {
    if (current.isPresent()) {
      RecordSource last = current.get();
      current = Optional.empty();
      last.close();
    }
  }
}
