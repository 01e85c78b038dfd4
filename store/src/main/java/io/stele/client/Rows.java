package io.stele.client;

import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The rows that a read found, in ascending order of their keys. They are fetched on demand and a
 * little ahead.
 *
 * <p>Each row is whole and read at one read point. Rows of one tablet are read at the same read
 * point as long as servers keep it; several tablets have no common read point. The read continues
 * through moves, splits and deaths of tablet servers without missing or repeating a row, and may
 * pause for any time: no server keeps state for it.
 *
 * <p>Reads the rows once, with {@link #read}, {@link #readAsync} or as an {@link Iterable}. Not
 * safe for use by several threads at once.
 */
public final class Rows implements Iterable<Row>, Closeable {
  /** With less than this part of its time left, a call does not ask again. */
  private static final int LEAST_PART = 10;

  private final Tablets tablets;
  private final TableRef table;
  private final RowQuery query;
  private List<Row> page = List.of();
  private int position;
  private Scan scan;
  private Optional<CompletableFuture<Scan.Page>> ahead = Optional.empty();
  private boolean closed;

  Rows(Tablets tablets, TableRef table, RowQuery query, long rowBytesMax) {
    this.tablets = tablets;
    this.table = table;
    this.query = query;
    this.scan = Scan.of(query, rowBytesMax);
    fetchAhead(table.deadline());
  }

  /**
   * The next row, or none when all have been read.
   *
   * @throws io.stele.model.SteleException RETRY_LATER if no server could answer in time, or no row
   *     was found in that time although much was read (another call continues where this one
   *     stopped), CORRUPTION if the data is damaged
   * @throws RowTooLargeException if the next row is too large; {@link #skipPast} skips it
   * @throws IOException if the thread was interrupted
   * @throws IllegalStateException if this is closed
   */
  public Optional<Row> read() throws IOException {
    return read(Optional.of(table.deadline()));
  }

  /**
   * Like {@link #read}, but without a limit on the whole time: this fails only if some part of the
   * table cannot be read in time.
   */
  public Optional<Row> readWithoutTimeout() throws IOException {
    return read(Optional.empty());
  }

  private Optional<Row> read(Optional<Deadline> end) throws IOException {
    Optional<CompletableFuture<Scan.Page>> earlier = ahead;
    Deadline own = end.orElseGet(table::deadline);
    while (position == page.size() && !isAtEnd()) {
      if (end.isPresent() && end.get().isOver()) {
        throw noneSoFar();
      }
      CompletableFuture<Scan.Page> next = nextPage(own);
      try {
        take(table.awaitRead(next), end);
      } catch (SteleException e) {
        if (!earlier.equals(Optional.of(next)) || !isWorthAnother(e, own)) {
          throw e;
        }
        earlier = Optional.empty();
        fetchAhead(own);
      }
    }
    return position < page.size() ? Optional.of(page.get(position++)) : Optional.empty();
  }

  /**
   * Skips all rows up to and including {@code row}, which is the row that a {@link
   * RowTooLargeException} named.
   */
  public void skipPast(Bytes row) {
    page =
        page.subList(position, page.size()).stream()
            .filter(r -> r.key().compareTo(row) > 0)
            .toList();
    position = 0;
    ahead.ifPresent(fetching -> fetching.cancel(false));
    ahead = Optional.empty();
    scan = scan.after(row);
    fetchAhead(table.deadline());
  }

  private SteleException noneSoFar() {
    return SteleException.retryLater(
        "reading table "
            + table.name()
            + " for "
            + table.limit().length().toMillis()
            + " ms ("
            + table.limit().setBy()
            + ") has found no row yet: call again to continue from row \""
            + scan.left().first()
            + "\"");
  }

  /** Like {@link #read}, without waiting. Call it again only when the last future is complete. */
  public CompletableFuture<Optional<Row>> readAsync() {
    if (position < page.size()) {
      return CompletableFuture.completedFuture(Optional.of(page.get(position++)));
    }
    Deadline end = table.deadline();
    Optional<CompletableFuture<Scan.Page>> earlier = ahead;
    return Futures.repeat(() -> readPage(end, earlier));
  }

  /** The next row, or that there is none, once a page has told. */
  private CompletableFuture<Optional<Optional<Row>>> readPage(
      Deadline end, Optional<CompletableFuture<Scan.Page>> earlier) {
    if (position < page.size()) {
      return CompletableFuture.completedFuture(Optional.of(Optional.of(page.get(position++))));
    }
    if (isAtEnd()) {
      return CompletableFuture.completedFuture(Optional.of(Optional.empty()));
    }
    if (end.isOver()) {
      return CompletableFuture.failedFuture(noneSoFar());
    }
    CompletableFuture<Scan.Page> next = nextPage(end);
    return next.handle(
        (page, failure) -> {
          if (failure == null) {
            take(page, Optional.of(end));
          } else if (earlier.equals(Optional.of(next)) && isWorthAnother(failure, end)) {
            fetchAhead(end);
          } else {
            throw new CompletionException(Futures.cause(failure));
          }
          return Optional.empty();
        });
  }

  /**
   * Whether to ask again for a page that an earlier call fetched ahead, and that did not come in
   * that call's time: only if this call has clearly more time.
   *
   * @param own when this call must end
   */
  private boolean isWorthAnother(Throwable failure, Deadline own) {
    Duration least = table.limit().length().dividedBy(LEAST_PART);
    return Futures.cause(failure) instanceof SteleException e
        && e.code() == SteleException.Code.RETRY_LATER
        && own.remaining().compareTo(least) > 0;
  }

  /**
   * The rows not yet read, without a limit on the whole time: this fails only if a page does not
   * come in time. An {@link IOException} is thrown as an {@link UncheckedIOException}, any other
   * exception as by {@link #read}.
   */
  @Override
  public Iterator<Row> iterator() {
    return new Iterator<>() {
      private Optional<Row> next = Optional.empty();

      @Override
      public boolean hasNext() {
        try {
          if (next.isEmpty()) {
            next = readWithoutTimeout();
          }
          return next.isPresent();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }

      @Override
      public Row next() {
        if (!hasNext()) {
          throw new NoSuchElementException("all rows of " + table.name() + " have been read");
        }
        Row row = next.orElseThrow();
        next = Optional.empty();
        return row;
      }
    };
  }

  @Override
  public Spliterator<Row> spliterator() {
    return Spliterators.spliteratorUnknownSize(
        iterator(), Spliterator.ORDERED | Spliterator.DISTINCT | Spliterator.NONNULL);
  }

  /** The rows not yet read; closing the stream closes this. */
  public Stream<Row> stream() {
    return StreamSupport.stream(spliterator(), false).onClose(this::close);
  }

  /** Ends the read; rows fetched ahead are dropped. */
  @Override
  public void close() {
    closed = true;
    page = List.of();
    position = 0;
    ahead.ifPresent(fetching -> fetching.cancel(false));
    ahead = Optional.empty();
  }

  private boolean isAtEnd() {
    if (closed) {
      throw new IllegalStateException("this read of table " + table.name() + " is closed");
    }
    return ahead.isEmpty() && scan.isDone();
  }

  /**
   * The page fetched ahead; after a failure the next call, which ends at {@code end}, asks for it
   * again.
   */
  private CompletableFuture<Scan.Page> nextPage(Deadline end) {
    if (ahead.isEmpty() || ahead.get().isCompletedExceptionally()) {
      fetchAhead(end);
    }
    return ahead.orElseThrow();
  }

  /**
   * Goes on with {@code next}; where it has no rows, what follows is for the same call, which ends
   * at {@code end}.
   */
  private void take(Scan.Page next, Optional<Deadline> end) {
    page = next.rows();
    position = 0;
    scan = next.next();
    fetchAhead(page.isEmpty() ? end.orElseGet(table::deadline) : table.deadline());
  }

  private void fetchAhead(Deadline deadline) {
    ahead =
        scan.isDone() ? Optional.empty() : Optional.of(scan.read(tablets, table, query, deadline));
  }
}
