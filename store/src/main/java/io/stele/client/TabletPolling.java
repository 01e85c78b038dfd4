package io.stele.client;

import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has tablets do something: polls each of them until it is done. Meanwhile a tablet may be split,
 * or go to another server: then it is located again. While one takes long, it logs which and why.
 * Safe for use by any number of threads.
 */
final class TabletPolling {
  private static final Logger LOG = LoggerFactory.getLogger(TabletPolling.class);

  /** How long a tablet may take before it is logged, and then again. */
  private static final Duration LOGGED_EVERY = Duration.ofSeconds(10);

  private final Connection connection;
  private final CachedServerCalls servers;

  /** What tablets are asked to do. */
  interface Request {
    /**
     * Asks a tablet to do it, or whether it is done.
     *
     * @param at the tablet as it was located
     * @param rows its rows, as its server said the last time; the first time, as it was located
     */
    Answer send(CachedServerCalls servers, TabletLocation at, RowRange rows) throws IOException;
  }

  /**
   * What the server of a tablet says.
   *
   * @param rows the tablet's rows, which may be others than it was located with
   * @param trouble why it could not be done when the server last tried; may be empty
   */
  record Answer(boolean isDone, RowRange rows, String trouble) {}

  /** What must hold for a tablet to be polled again. */
  interface Condition {
    /** Whether it holds. */
    boolean holds() throws IOException;
  }

  TabletPolling(Connection connection) {
    this.connection = connection;
    this.servers = new CachedServerCalls(connection);
  }

  /**
   * Polls the tablet with {@code row} in it until it is done, for {@code stele.client.timeout} at
   * most.
   *
   * @param what for messages
   * @return the rows for which it is done; empty if {@code condition} does not hold any more
   * @throws SteleException RETRY_LATER if it was not done in time
   */
  Optional<RowRange> untilDone(
      TableId table, Bytes row, String what, Request request, Condition condition)
      throws IOException {
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    Pauses pauses = new Pauses(connection.runtime(), what);
    Optional<RowRange> known = Optional.empty();
    Deadline quiet = Deadline.after(connection.runtime(), LOGGED_EVERY);
    String trouble = "";
    while (true) {
      TabletLocation at = connection.locate(table, row, what);
      try {
        Answer answer = request.send(servers, at, known.orElse(at.extent()));
        boolean isHere = answer.rows().contains(row);
        if (answer.isDone() && isHere) {
          return Optional.of(answer.rows());
        }
        if (!isHere) {
          connection.forget(at); // It has been split.
        }
        known = Optional.of(answer.rows()); // It may have more than was located.
        trouble = answer.trouble().isEmpty() ? "" : "; its server says: " + answer.trouble();
      } catch (IOException | SteleException e) {
        if (!ClusterCalls.mayPass(e) || deadline.isOver()) {
          throw e;
        }
        servers.forget();
        connection.forget(at);
        trouble = "; asking its server failed: " + e.getMessage();
      }
      if (deadline.isOver()) {
        throw SteleException.retryLater(
            what
                + ": the tablet with row \""
                + row
                + "\" was not ready within "
                + connection.timeout().toMillis()
                + " ms"
                + trouble);
      }
      if (quiet.isOver()) {
        LOG.warn(
            "{}: still waiting for the tablet of table {} with row \"{}\", on server {}{}",
            what,
            table,
            row,
            at.server(),
            trouble);
        quiet = Deadline.after(connection.runtime(), LOGGED_EVERY);
      }
      if (!condition.holds()) {
        return Optional.empty();
      }
      pauses.pause();
    }
  }
}
