package io.stele.log;

import io.stele.files.DurableFiles;
import io.stele.files.DurableFiles.Placement;
import io.stele.files.NotDurableException;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of a log's writers: it creates a segment when one is needed, waits on standby, writes while
 * it is the active writer, ends the segment, and starts over. Only its own thread touches its file.
 */
final class LogWriter {
  private static final Logger LOG = LoggerFactory.getLogger(LogWriter.class);

  /** How many segments are created to find one that begins elsewhere than another writer's. */
  private static final int PLACES_TRIED = 3;

  /** The settings that the writers of a log share. */
  record Shared(
      LogLocation location,
      int replicasMin,
      CommitPipeline pipeline,
      SegmentLedger ledger,
      Consumer<IOException> onFatal,
      Runnable onEnded) {}

  private final Shared shared;
  private final LogLocation location;
  private final DurableFiles files;
  private final CommitPipeline pipeline;
  private final WriterState state;

  /** Created before the thread runs. */
  private Optional<SegmentWriter> first = Optional.empty();

  LogWriter(Shared shared, WriterState state) {
    this.shared = shared;
    this.location = shared.location();
    this.files = new DurableFiles(location.fs());
    this.pipeline = shared.pipeline();
    this.state = state;
  }

  /** Creates the log's first segment, before the thread runs. */
  void createFirst() throws IOException {
    first = Optional.of(create());
  }

  /** The work of the thread. */
  void run() {
    try {
      for (Optional<SegmentWriter> next = first.or(this::prepare);
          next.isPresent();
          next = prepare()) {
        SegmentWriter segment = next.get();
        boolean used = pipeline.awaitTurn(state);
        Optional<IOException> failure = used ? serve(segment) : Optional.empty();
        end(segment, used, failure);
      }
    } catch (RuntimeException | Error e) {
      shared.onFatal().accept(new IOException("a thread of the commit log has failed: " + e, e));
    } finally {
      pipeline.ended(state);
    }
  }

  /** Creates the next segment; empty if the log has ended and needs no more. */
  private Optional<SegmentWriter> prepare() {
    while (pipeline.awaitNeed(state)) {
      pipeline.pause(state);
      try {
        return Optional.of(create());
      } catch (IOException e) {
        pipeline.failed(state, e);
        LOG.warn("Cannot create a segment in {} yet", location.directory(), e);
        giveUpIfHopeless(e);
      }
    }
    return Optional.empty();
  }

  private SegmentWriter create() throws IOException {
    // One as near as can be; another elsewhere, so that a slow node does not slow both.
    SegmentWriter segment = create(pipeline.placementFor(state));
    for (int tried = 1; tried < PLACES_TRIED && sharesFirstNode(segment); tried++) {
      drop(
          segment,
          new IOException("the first replica is on the same node as another writer's segment"));
      segment = create(Placement.ANYWHERE);
    }
    pipeline.created(state, segment);
    return segment;
  }

  private SegmentWriter create(Placement where) throws IOException {
    pipeline.busy(state);
    long number = pipeline.creating(state, where);
    SegmentHeader header = new SegmentHeader(location.kind(), location.server(), number);
    try {
      return SegmentWriter.create(
          files.preferring(pipeline.preferredNodes()),
          location.segment(number),
          header,
          where,
          shared.replicasMin());
    } catch (IOException e) {
      shared.ledger().ended(number);
      delete(number); // An outage of hours leaves no trail of files that were only begun.
      throw e;
    }
  }

  private boolean sharesFirstNode(SegmentWriter segment) {
    Set<String> others = pipeline.firstNodesOfOthers(state);
    return segment.isReplicated() && segment.nodes().stream().limit(1).anyMatch(others::contains);
  }

  /** Takes back a segment that was created but not used. */
  private void drop(SegmentWriter segment, IOException why) {
    long number = segment.header().number();
    segment.abandon(why);
    shared.ledger().ended(number);
    delete(number);
  }

  /**
   * Writes batches until the segment is full, another writer is active, or the log has ended.
   *
   * @return the failure after which the segment can no longer be used
   */
  private Optional<IOException> serve(SegmentWriter segment) {
    boolean linked = false;
    for (Optional<BatchInFlight> next = pipeline.next(state);
        next.isPresent();
        next = pipeline.next(state)) {
      BatchInFlight batch = next.get();
      try {
        if (!linked) {
          segment.append(state.link);
          linked = true;
        }
        write(segment, batch);
      } catch (IOException e) {
        pipeline.failed(state, e);
        LOG.warn(
            "Writing segment {} of {} failed: its {} unacknowledged records go to the next segment",
            segment.header().number(),
            location.directory(),
            batch.records.size(),
            e);
        return Optional.of(e);
      }
      if (!pipeline.completed(state, batch, segment.position())) {
        LOG.warn(
            "Segment {} of {} was slow: its {} unacknowledged records went to the next segment",
            segment.header().number(),
            location.directory(),
            batch.records.size());
        return Optional.empty();
      }
      for (WaitingRecord record : batch.records) {
        record.done.complete(null);
      }
      if (batch.rolls) {
        pipeline.handOver(state);
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  private void write(SegmentWriter segment, BatchInFlight batch) throws IOException {
    for (WaitingRecord record : batch.records) {
      segment.append(record);
    }
    if (batch.rolls) {
      segment.appendSummary();
    }
    segment.flush(batch.durability);
  }

  /** Ends the segment. Nobody waits for this: every acknowledged record is in the file. */
  private void end(SegmentWriter segment, boolean used, Optional<IOException> failure) {
    long number = segment.header().number();
    if (failure.isPresent()) {
      shared.ledger().failed(number);
      giveUpIfHopeless(failure.get());
    }
    pipeline.busy(state);
    if (failure.isPresent()) {
      segment.abandon(failure.get());
    } else {
      close(segment);
    }
    shared.ledger().ended(number);
    if (!used) {
      delete(number);
    }
    shared.onEnded().run(); // Watched, too: it may delete files.
    pipeline.idle(state);
  }

  private void close(SegmentWriter segment) {
    try {
      segment.close();
    } catch (IOException e) {
      LOG.warn(
          "Closing segment {} of {} failed", segment.header().number(), location.directory(), e);
      shared.ledger().failed(segment.header().number());
      segment.abandon(e);
    }
  }

  // It has acknowledged nothing: no other segment names it.
  private void delete(long number) {
    try {
      location.fs().delete(location.segment(number), false);
      shared.ledger().deleted(number);
    } catch (IOException e) {
      LOG.debug("Cannot delete the unused segment {} of {}", number, location.directory(), e);
    }
  }

  private void giveUpIfHopeless(IOException failure) {
    pipeline.busy(state);
    boolean hopeless = isHopeless(failure);
    pipeline.idle(state);
    if (hopeless || pipeline.givesUpClosing(state)) {
      shared.onFatal().accept(failure);
    }
  }

  /**
   * Whether no later attempt can succeed. An outage of the file system, however long, does not
   * count: another server has the same file system, and this server is fenced before others get its
   * tablets.
   */
  private boolean isHopeless(IOException failure) {
    if (failure instanceof NotDurableException) {
      return true;
    }
    try {
      return !location.fs().exists(location.directory()); // Fenced: nothing may bring it back.
    } catch (IOException unknown) {
      failure.addSuppressed(unknown);
      return DurableFiles.saysClosed(unknown);
    }
  }
}
