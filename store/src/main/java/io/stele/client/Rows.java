package io.stele.client;

import io.stele.model.Row;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * The rows a read found, in ascending order of their keys, fetched as they are asked for and a
 * little ahead.
 *
 * <p>Each row is whole and of one moment. Rows of one tablet are of the same moment for as long as
 * that is kept; no moment is promised for several tablets. The read goes on through moves, splits
 * and deaths of tablet servers, without a row missing or coming twice, and may pause for any time:
 * no server keeps state for it.
 *
 * <p>Goes through the rows once, be it with {@link #read}, {@link #readAsync} or as an {@link
 * Iterable}. Not safe for use by several threads at once.
 */
public final class Rows implements Iterable<Row>, Closeable {
  Rows() {}

  /**
   * The next row, or none when all have been read.
   *
   * @throws io.stele.model.SteleException RETRY_LATER where no server could answer in time (asking
   *     again goes on where it stopped), CORRUPTION where the data is damaged
   * @throws IOException where the thread was interrupted
   */
  public Optional<Row> read() throws IOException {
    return Waiting.on(readAsync());
  }

  /** Like {@link #read}, without waiting. The next may be asked for when this one is complete. */
  public CompletableFuture<Optional<Row>> readAsync() {
    throw new UnsupportedOperationException();
  }

  /** The rows not yet read; an interruption comes as an {@link UncheckedIOException}. */
  @Override
  public Iterator<Row> iterator() {
    throw new UnsupportedOperationException();
  }

  /** The rows not yet read; closing the stream closes this. */
  public Stream<Row> stream() {
    throw new UnsupportedOperationException();
  }

  /** Ends the read; what was fetched ahead is dropped. */
  @Override
  public void close() {}
}
