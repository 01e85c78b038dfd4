package io.stele.tablet;

import io.stele.log.CommitLog;
import io.stele.log.LogRecord;
import io.stele.model.TabletId;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** One tablet's view of a commit log that many tablets share. */
record LogOfTablet(CommitLog log, TabletId tablet) implements TabletLog {
  @Override
  public CompletableFuture<Void> append(LogRecord record, LogNeed need) {
    return log.append(record, need.durability(), need.moreFollow());
  }

  @Override
  public Optional<String> refusal() {
    return log.refusal();
  }

  @Override
  public void release(long sequence) {
    log.release(tablet, sequence);
  }
}
