package io.stele.client;

import io.stele.metadata.Operations;
import io.stele.metadata.TabletAccess;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Durability;
import io.stele.model.Filter;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * A table: reads and writes of its rows.
 *
 * <p>Every read and write of one row is atomic and linearizable. Nothing is promised across rows,
 * neither by {@link #mutateAll} nor by {@link #readRows}.
 *
 * <p>An acknowledged write is in the memory of every live replica; {@link #withDurability} asks for
 * more.
 *
 * <p>Each call has a form that waits and one that returns a {@link CompletableFuture}, which fails
 * with what the first would throw. Futures complete on threads of the connection: callbacks must
 * not block. What such calls write is bounded: see {@link #mutateAsync}.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Table {
  /** The default limit on the size of a row that a read returns: 256 MiB. */
  public static final long ROW_BYTES_MAX = 256L << 20;

  private static final Duration TIMEOUT_MAX = Duration.ofDays(365);

  private static final RowQuery ANY_CELL =
      RowQuery.ALL.filter(Filter.chain(new Filter.CellsPerRowLimit(1), new Filter.StripValue()));

  private final Connection connection;
  private final TableRef ref;
  private final SchemaCheck check;
  private final Durability durability;
  private final long rowBytesMax;

  Table(Connection connection, TableRef ref, SchemaCheck check) {
    this(connection, ref, check, Durability.HFLUSH, ROW_BYTES_MAX);
  }

  private Table(
      Connection connection,
      TableRef ref,
      SchemaCheck check,
      Durability durability,
      long rowBytesMax) {
    this.connection = connection;
    this.ref = ref;
    this.check = check;
    this.durability = durability;
    this.rowBytesMax = rowBytesMax;
  }

  /**
   * The same table, whose writes, and those of its batch writers, ask for {@code least}.
   *
   * <pre>{@code
   * table.withDurability(Durability.HSYNC).mutate(payment); // On disk when this returns.
   * }</pre>
   *
   * @param least the durability of a write when it is acknowledged; never less than the table's
   *     schema asks for. If an operation is sent again that was applied already, the durability
   *     that its first request asked for applies
   */
  public Table withDurability(Durability least) {
    return new Table(connection, ref, check, least, rowBytesMax);
  }

  /**
   * The same table, whose calls, and those of its batch writers, end within another time than
   * {@code stele.client.timeout}.
   *
   * <pre>{@code
   * table.withTimeout(Duration.ofMillis(200)).readRow("r"); // Or an error, RETRY_LATER.
   * }</pre>
   *
   * <p>A time that is too short for a second attempt makes failures visible that are otherwise
   * retried, such as a tablet that moves.
   *
   * @param timeout more than 0, at most 365 days. A mutation that has been sent may take up to half
   *     a second longer, so that its outcome becomes known
   */
  public Table withTimeout(Duration timeout) {
    if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(TIMEOUT_MAX) > 0) {
      throw SteleException.refused(
          "a time limit must be more than 0 and at most 365 days, not " + timeout);
    }
    return new Table(connection, ref.withTimeout(timeout), check, durability, rowBytesMax);
  }

  /**
   * The same table, with another limit on the bytes of a row that reads return: families,
   * qualifiers and values together. Large rows are fetched in parts and joined; a read of a row
   * above the limit fails with a {@link RowTooLargeException}.
   *
   * @param bytes {@link #ROW_BYTES_MAX} otherwise
   */
  public Table withRowBytesMax(long bytes) {
    if (bytes < 1) {
      throw SteleException.refused("the largest row to read must be at least 1 byte, not " + bytes);
    }
    return new Table(connection, ref, check, durability, bytes);
  }

  /**
   * The same table, for scans of rows that are unlikely to be read again soon: servers do not keep
   * in their caches what such a scan reads from files, and read ahead as much as it asks for.
   */
  public Table withoutCaching() {
    return new Table(connection, ref.withoutCaching(), check, durability, rowBytesMax);
  }

  /**
   * The same table, read as {@link Jobs#pin} has pinned it for a job: every read sees the same rows
   * and cells, whatever is written meanwhile. Such a read is REFUSED once the job is over, and in a
   * tablet that the job has not pinned. Internal: for input formats.
   */
  public Table atPin(String job) {
    return new Table(connection, ref.atPin(job), check, durability, rowBytesMax);
  }

  /** The pinned tablets of a table that is read {@link #atPin}. Internal: for direct reading. */
  public PinnedTablets pinnedTablets() {
    return new PinnedTablets(connection, ref);
  }

  /** The table's name. */
  public String name() {
    return ref.name();
  }

  /** Distinguishes the table from other tables that had its name before, or will have it later. */
  public TableId id() {
    return ref.id();
  }

  /** The table's schema as this client last read it. */
  public TableSchema schema() {
    return check.schema();
  }

  /**
   * Applies a mutation, all of it or nothing.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if the table or one of the families does not
   *     exist, REFUSED if a limit is broken, RETRY_LATER if no server could take it in time, and
   *     OUTCOME_UNKNOWN if a server was lost and the time was up before another server could tell
   *     the outcome
   * @throws IOException if the thread was interrupted: the outcome is then unknown too
   */
  public void mutate(Mutation mutation) throws IOException {
    ref.await(apply(mutation));
  }

  /**
   * Like {@link #mutate}, without waiting. If you call it again for the same row before the first
   * call has completed, either may be applied first.
   *
   * <p>Writes wait in memory until they are applied, so those in progress that no caller waits for
   * are bounded: above 65,536 operations or 64 MiB on one connection the future fails at once with
   * RETRY_LATER, and nothing was sent. {@link #batchWriter} has its caller wait instead.
   */
  public CompletableFuture<Void> mutateAsync(Mutation mutation) {
    return connection.asyncWrites().admit(List.of(mutation), () -> apply(mutation));
  }

  private CompletableFuture<Void> apply(Mutation mutation) {
    Batcher.Writer writer = writer();
    BegunOperation begun = BegunOperation.of(mutation, writer.operations(), ref.deadline());
    return checked(begun, writer.operations())
        .thenCompose(good -> writer.submit(begun, durability));
  }

  /**
   * Applies mutations, each of them all or nothing. Those for one tablet server are sent together.
   * Mutations of the same row are applied in the order given. For more mutations than fit into
   * memory, use {@link #batchWriter}.
   *
   * @return one outcome for each mutation, in the order given; a mutation that fails does not keep
   *     the others from being applied
   * @throws IOException if the thread was interrupted
   */
  public List<Outcome> mutateAll(List<Mutation> mutations) throws IOException {
    return ref.await(applyAll(mutations));
  }

  /** Like {@link #mutateAll}, without waiting, and bounded as {@link #mutateAsync}. */
  public CompletableFuture<List<Outcome>> mutateAllAsync(List<Mutation> mutations) {
    return connection.asyncWrites().admit(mutations, () -> applyAll(mutations));
  }

  private CompletableFuture<List<Outcome>> applyAll(List<Mutation> given) {
    List<Mutation> mutations = List.copyOf(given);
    Batcher.Writer writer = writer();
    Deadline deadline = ref.deadline();
    List<BegunOperation> begun =
        mutations.stream()
            .map(mutation -> BegunOperation.of(mutation, writer.operations(), deadline))
            .toList();
    Outcome[] outcomes = new Outcome[begun.size()];
    CompletableFuture<?>[] all = new CompletableFuture<?>[outcomes.length];
    Map<Bytes, CompletableFuture<?>> turns = new HashMap<>(); // Of rows with one yet to be checked.
    for (int i = 0; i < outcomes.length; i++) {
      int place = i;
      Mutation mutation = mutations.get(i);
      all[i] =
          submitInTurn(begun.get(i), writer, turns)
              .handle(
                  (nothing, failure) ->
                      outcomes[place] =
                          failure == null
                              ? Outcome.applied(mutation)
                              : Outcome.failed(mutation, failure));
    }
    return CompletableFuture.allOf(all).thenApply(done -> List.of(outcomes));
  }

  /** Submits a mutation when it was checked, and those of its row before it were submitted. */
  private CompletableFuture<Void> submitInTurn(
      BegunOperation mutation, Batcher.Writer writer, Map<Bytes, CompletableFuture<?>> turns) {
    CompletableFuture<Void> good = checked(mutation, writer.operations());
    Bytes row = mutation.operation().row();
    CompletableFuture<?> before = turns.get(row);
    if (before == null && good.isDone() && !good.isCompletedExceptionally()) {
      return writer.submit(mutation, durability);
    }
    CompletableFuture<Void> turn =
        before == null
            ? CompletableFuture.completedFuture(null)
            : before.handle((submitted, refused) -> null);
    CompletableFuture<CompletableFuture<Void>> submitted =
        turn.thenCompose(now -> good).thenApply(now -> writer.submit(mutation, durability));
    turns.put(row, submitted);
    return submitted.thenCompose(applied -> applied);
  }

  /** Completes where an operation may be sent; if it fails, the operation has ended. */
  private CompletableFuture<Void> checked(BegunOperation begun, Operations operations) {
    CompletableFuture<Void> good;
    try {
      good = check.operation(begun.operation(), begun.deadline());
    } catch (RuntimeException | Error e) {
      good = CompletableFuture.failedFuture(e); // Its id must end.
    }
    return good.whenComplete(
        (nothing, refusal) -> {
          if (refusal != null) {
            operations.complete(begun.id());
          }
        });
  }

  /**
   * Checks a row and changes it in one atomic step.
   *
   * @return whether the predicate held
   * @throws io.stele.model.SteleException as {@link #mutate} does
   * @throws IOException if the thread was interrupted: the outcome is then unknown
   */
  public boolean checkAndMutate(CheckAndMutate operation) throws IOException {
    return ref.await(apply(operation));
  }

  /** Like {@link #checkAndMutate}, without waiting, and bounded as {@link #mutateAsync}. */
  public CompletableFuture<Boolean> checkAndMutateAsync(CheckAndMutate operation) {
    return connection.asyncWrites().admit(List.of(operation), () -> apply(operation));
  }

  private CompletableFuture<Boolean> apply(CheckAndMutate operation) {
    return send(operation).thenApply(answer -> answer.response().header().getMatched());
  }

  /**
   * Appends to and increments columns of a row in one atomic step. It counts once, however often it
   * is retried.
   *
   * @return the new cells
   * @throws io.stele.model.SteleException as {@link #mutate} does; also REFUSED if a value to be
   *     incremented does not have 8 bytes, and OUTCOME_UNKNOWN if it was applied, but the answer
   *     was lost and the result is too large for the server to keep it
   * @throws IOException if the thread was interrupted: the outcome is then unknown
   */
  public Row readModifyWrite(ReadModifyWrite operation) throws IOException {
    return ref.await(apply(operation));
  }

  /** Like {@link #readModifyWrite}, without waiting, and bounded as {@link #mutateAsync}. */
  public CompletableFuture<Row> readModifyWriteAsync(ReadModifyWrite operation) {
    return connection.asyncWrites().admit(List.of(operation), () -> apply(operation));
  }

  private CompletableFuture<Row> apply(ReadModifyWrite operation) {
    return send(operation).thenApply(answer -> SingleOperation.newCells(answer, ref, operation));
  }

  /**
   * Whether the row has any cell.
   *
   * @throws io.stele.model.SteleException as {@link #readRow(Bytes, RowQuery)}
   * @throws IOException if the thread was interrupted
   */
  public boolean exists(Bytes row) throws IOException {
    return readRow(row, ANY_CELL).isPresent();
  }

  /** Like {@link #exists(Bytes)}. */
  public boolean exists(String row) throws IOException {
    return exists(Bytes.of(row));
  }

  /** Reads all that the row has. */
  public Optional<Row> readRow(String row) throws IOException {
    return readRow(Bytes.of(row));
  }

  /** Reads all that the row has. */
  public Optional<Row> readRow(Bytes row) throws IOException {
    return readRow(row, RowQuery.ALL);
  }

  /** Like {@link #readRow(Bytes, RowQuery)}. */
  public Optional<Row> readRow(String row, RowQuery query) throws IOException {
    return readRow(Bytes.of(row), query);
  }

  /**
   * Reads one row.
   *
   * @param row the row key
   * @param query what of the row to return; the ranges and the row limit in it are ignored
   * @return the row; empty if it has nothing that {@code query} asks for
   * @throws io.stele.model.SteleException NOT_FOUND if the table or a family does not exist,
   *     REFUSED if the row key is empty or too long, RETRY_LATER if no server could answer in time,
   *     CORRUPTION if the data is damaged
   * @throws IOException if the thread was interrupted
   */
  public Optional<Row> readRow(Bytes row, RowQuery query) throws IOException {
    return ref.awaitRead(readRowAsync(row, query));
  }

  /** Like {@link #readRow(Bytes, RowQuery)}, without waiting. */
  public CompletableFuture<Optional<Row>> readRowAsync(Bytes row, RowQuery query) {
    try {
      Limits.checkRow(row);
    } catch (SteleException e) {
      return CompletableFuture.failedFuture(e);
    }
    RowQuery one = query.withRanges(List.of(RowRange.single(row))).limit(1);
    Deadline deadline = ref.deadline();
    return checkedFamilies(query, deadline)
        .thenCompose(
            good -> Scan.of(one, rowBytesMax).readRow(connection.tablets(), ref, one, deadline))
        .thenApply(page -> page.rows().stream().findFirst());
  }

  /**
   * Reads the rows with these keys: those of one tablet together, and many tablets at the same
   * time. Each row is read at one read point; the rows have no common one.
   *
   * @param rows the row keys, in any order
   * @param query what of the rows to return; the ranges and the row limit in it are ignored
   * @return the rows that have something {@code query} asks for, by their keys in ascending order
   * @throws io.stele.model.SteleException as {@link #readRow(Bytes, RowQuery)}, if a row cannot be
   *     read
   * @throws IOException if the thread was interrupted
   */
  public Map<Bytes, Row> readRows(Collection<Bytes> rows, RowQuery query) throws IOException {
    return ref.awaitRead(readRowsAsync(rows, query));
  }

  /** Like {@link #readRows(Collection, RowQuery)}, without waiting. */
  public CompletableFuture<Map<Bytes, Row>> readRowsAsync(Collection<Bytes> rows, RowQuery query) {
    try {
      rows.forEach(Limits::checkRow);
    } catch (SteleException e) {
      return CompletableFuture.failedFuture(e);
    }
    Deadline deadline = ref.deadline();
    KeyedRead read = new KeyedRead(connection.tablets(), ref, rows, query, rowBytesMax, deadline);
    return checkedFamilies(query, deadline).thenCompose(good -> read.run());
  }

  /**
   * Reads rows, in ascending order of their keys. This does not wait: {@link Rows#read} does, and
   * {@link Rows#readAsync} does not.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if a family does not exist
   */
  public Rows readRows(RowQuery query) throws IOException {
    checkFamilies(query);
    return new Rows(connection.tablets(), ref, query, rowBytesMax);
  }

  /**
   * Reads one row of any size, cell by cell. This does not wait: {@link Cells#read} does.
   *
   * @param query what of the row to return; the ranges and the row limit in it are ignored
   * @throws io.stele.model.SteleException NOT_FOUND if a family does not exist, REFUSED if the row
   *     key is empty or too long
   */
  public Cells readCells(Bytes row, RowQuery query) throws IOException {
    Limits.checkRow(row);
    checkFamilies(query);
    return new Cells(connection.tablets(), ref, row, query, rowBytesMax);
  }

  /**
   * Refuses a query that names a family which the table does not have.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if it does, RETRY_LATER if the schema had to be
   *     read again and could not be
   * @throws IOException if the thread was interrupted
   */
  public void checkFamilies(RowQuery query) throws IOException {
    ref.awaitRead(checkedFamilies(query, ref.deadline()));
  }

  /** At a pin, the pinned schema applies, which only the servers know. */
  private CompletableFuture<Void> checkedFamilies(RowQuery query, Deadline deadline) {
    return ref.pin().isPresent()
        ? CompletableFuture.completedFuture(null)
        : check.query(query, deadline);
  }

  /**
   * Rows that divide the table into parts of similar size, in ascending order; the last sample has
   * the empty row and the size of the whole table. A table with little data has few.
   */
  public List<RowKeySample> sampleRowKeys() throws IOException {
    return ref.awaitRead(sampleRowKeysAsync());
  }

  /** Like {@link #sampleRowKeys}, without waiting. */
  public CompletableFuture<List<RowKeySample>> sampleRowKeysAsync() {
    return new Sampling(connection.tablets(), ref, RowRange.ALL, OptionalLong.empty()).run();
  }

  /**
   * Like {@link #sampleRowKeysAsync()}, but only for the tablets with {@code rows}, whose bytes are
   * counted from 0.
   *
   * @param rows the rows of one or more {@link #tablets}
   * @param pieceBytes about how many bytes lie between two samples; the number of samples of a
   *     tablet is limited
   */
  public CompletableFuture<List<RowKeySample>> sampleRowKeysAsync(RowRange rows, long pieceBytes) {
    return new Sampling(connection.tablets(), ref, rows, OptionalLong.of(pieceBytes)).run();
  }

  /** The table's tablets, in ascending order of their rows, as METADATA has them now. */
  public List<TabletInfo> tablets() throws IOException {
    return connection.tablets(ref);
  }

  /** A writer for many mutations, with the connection's defaults. */
  public BatchWriter batchWriter() {
    return batchWriter(BatchWriter.Options.ofBufferBytes(connection.bufferBytes()));
  }

  /** A writer for many mutations. */
  public BatchWriter batchWriter(BatchWriter.Options options) {
    Batcher batcher = connection.batcher(ref);
    Operations operations =
        options
            .firstOperation()
            .map(first -> Operations.repeatable(connection.runtime(), first, options.job()))
            .orElseGet(() -> batcher.operations(ref));
    return new BatchWriter(
        check, batcher.writer(ref, operations), options.bufferBytes(), durability);
  }

  @Override
  public String toString() {
    return "table " + name();
  }

  private Batcher.Writer writer() {
    return connection.batcher(ref).writer(ref);
  }

  /** Checks an operation that is sent alone, and sends it. */
  private CompletableFuture<TabletAccess.Answer> send(RowOperation operation) {
    Operations operations = connection.batcher(ref).operations(ref);
    BegunOperation begun = BegunOperation.of(operation, operations, ref.deadline());
    SingleOperation single =
        new SingleOperation(ref, operation, begun.id(), durability, operations);
    return checked(begun, operations)
        .thenCompose(good -> connection.tablets().send(single.request(), begun.deadline()))
        .whenComplete((response, failure) -> operations.complete(begun.id()));
  }
}
