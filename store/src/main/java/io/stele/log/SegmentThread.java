package io.stele.log;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of a log's two writers: over and over it creates a segment, stands by with it, writes it
 * while it has the turn, and ends it. Only its own thread touches its file.
 */
final class SegmentThread {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentThread.class);

  /** What the two writers of a log have in common. */
  record Site(
      LogLocation location,
      CommitPipeline pipeline,
      SegmentLedger ledger,
      Consumer<IOException> onFatal,
      Runnable onEnded) {}

  private final Site site;
  private final LogLocation location;
  private final SegmentFiles files;
  private final CommitPipeline pipeline;
  private final Seat seat;
  private LogWriter writer;

  SegmentThread(Site site, Seat seat) {
    this.site = site;
    this.location = site.location();
    this.files = new SegmentFiles(location.fs());
    this.pipeline = site.pipeline();
    this.seat = seat;
  }

  /** Creates the log's first segment, before the thread runs. */
  void createFirst() throws IOException {
    create();
  }

  /** What the thread does. */
  void run() {
    try {
      while (writer != null || prepare()) {
        boolean used = pipeline.awaitTurn(seat);
        Optional<IOException> failure = used ? serve() : Optional.empty();
        end(used, failure);
      }
    } catch (RuntimeException | Error e) {
      site.onFatal().accept(new IOException("a thread of the commit log has failed: " + e, e));
    } finally {
      pipeline.ended(seat);
    }
  }

  /** Creates the next segment; false where there is no need for one any more. */
  private boolean prepare() {
    while (!pipeline.isOver()) {
      pipeline.pause(seat);
      try {
        create();
        return true;
      } catch (IOException e) {
        pipeline.failed(seat);
        LOG.warn("Cannot create a segment in {} yet", location.directory(), e);
        giveUpIfHopeless(e);
      }
    }
    return false;
  }

  private void create() throws IOException {
    long number = site.ledger().opening();
    SegmentHeader header = new SegmentHeader(location.kind(), location.server(), number);
    pipeline.busy(seat);
    try {
      writer = LogWriter.create(files, location.segment(number), header);
    } catch (IOException e) {
      site.ledger().ended(number);
      throw e;
    }
    pipeline.created(seat, number, writer.position());
  }

  /**
   * Writes what comes until the segment is full, somebody else has the turn, or the log is over.
   *
   * @return the failure after which the segment is of no use
   */
  private Optional<IOException> serve() {
    boolean linked = false;
    for (Optional<Flight> next = pipeline.next(seat);
        next.isPresent();
        next = pipeline.next(seat)) {
      Flight flight = next.get();
      try {
        if (!linked) {
          writer.append(seat.link);
          linked = true;
        }
        write(flight);
      } catch (IOException e) {
        pipeline.failed(seat);
        LOG.warn(
            "Writing segment {} of {} failed: {} records go to the next",
            writer.header().number(),
            location.directory(),
            flight.records.size(),
            e);
        return Optional.of(e);
      }
      if (!pipeline.landed(seat, flight, writer.position())) {
        LOG.warn(
            "Segment {} of {} was slow: {} records went to the next",
            writer.header().number(),
            location.directory(),
            flight.records.size());
        return Optional.empty();
      }
      for (WaitingRecord record : flight.records) {
        record.done.complete(null);
      }
      if (flight.rolls) {
        pipeline.handOver(seat);
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  private void write(Flight flight) throws IOException {
    for (WaitingRecord record : flight.records) {
      writer.append(record.body, record.bodyCrc);
    }
    writer.flush(flight.durability);
  }

  /** Ends the segment. Nobody waits for this: everything that was acknowledged is in the file. */
  private void end(boolean used, Optional<IOException> failure) {
    long number = writer.header().number();
    failure.ifPresent(this::giveUpIfHopeless);
    pipeline.busy(seat);
    if (failure.isPresent()) {
      writer.abandon(failure.get());
    } else {
      close();
    }
    writer = null;
    site.ledger().ended(number);
    if (!used) {
      delete(number);
    }
    pipeline.idle(seat);
    site.onEnded().run();
  }

  private void close() {
    try {
      writer.close();
    } catch (IOException e) {
      LOG.warn(
          "Closing segment {} of {} failed", writer.header().number(), location.directory(), e);
      writer.abandon(e);
    }
  }

  // It stood by in vain: no other segment names it.
  private void delete(long number) {
    try {
      location.fs().delete(location.segment(number), false);
      site.ledger().deleted(number);
    } catch (IOException e) {
      LOG.debug(
          "Cannot delete segment {} of {}, which was not used", number, location.directory(), e);
    }
  }

  private void giveUpIfHopeless(IOException failure) {
    pipeline.busy(seat);
    boolean hopeless = isHopeless(failure);
    pipeline.idle(seat);
    if (hopeless || pipeline.hasFailedTooOften(seat)) {
      site.onFatal().accept(failure);
    }
  }

  private boolean isHopeless(IOException failure) {
    if (failure instanceof SegmentFiles.CannotFlushException) {
      return true;
    }
    try {
      return !location.fs().exists(location.directory()); // Fenced: nothing may bring it back.
    } catch (IOException unknown) {
      failure.addSuppressed(unknown);
      return false; // The file system is away; the next attempt shows more.
    }
  }
}
