package io.stele.client;

import io.stele.format.CellBlockWriter;
import io.stele.format.RowCodec;
import io.stele.metadata.Attempts;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.Settled;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.MemoryClaim;
import io.stele.wire.DataPlane;
import io.stele.wire.MutateBatch;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Response;
import io.stele.wire.RowOrder;
import io.stele.wire.data.DataProtos.MutateProto;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.SampleProto;
import io.stele.wire.data.DataProtos.SettleProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * Tablets of one table in memory: rows for reads, and a journal of the mutations applied. Answers
 * come on other threads. Faults are put in by the test.
 */
final class FakeTablets implements Tablets {
  static final TableId TABLE = new TableId("t1");

  private final Executor answers;
  private final TreeMap<Bytes, TabletLocation> tablets = new TreeMap<>(); // By first row.
  private final TreeMap<Bytes, Row> rows = new TreeMap<>();
  private final List<MutateBatch.Entry> applied = new ArrayList<>();
  private final Map<OperationId, Boolean> known = new HashMap<>();
  private final List<RequestProto> singles = new ArrayList<>();
  private final List<Long> order = new ArrayList<>();
  private final List<ReadProto> reads = new ArrayList<>();
  private final List<MutateProto> batches = new ArrayList<>();
  private final List<SettleProto> settles = new ArrayList<>();
  private Optional<Settled> settled = Optional.empty(); // Instead of being applied.
  private CompletableFuture<Void> goingOn = CompletableFuture.completedFuture(null);
  private int nextName = 1;
  private long readPoint = 100;
  private int rowsAPage = Integer.MAX_VALUE;
  private Function<MutateBatch.Entry, Optional<Throwable>> fault = entry -> Optional.empty();
  private Function<Integer, Optional<Throwable>> afterBatch = batch -> Optional.empty();

  FakeTablets() {
    this(ForkJoinPool.commonPool());
  }

  /** The same, whose answers come from {@code answers}. */
  FakeTablets(Executor answers) {
    this.answers = answers;
    add(RowRange.ALL, "a");
  }

  /** Gives the rows a tablet of their own at a server; what was there before is gone. */
  synchronized void add(RowRange range, String host) {
    TabletId id = new TabletId(TABLE, String.format("%016x", nextName++));
    tablets.put(range.start(), new TabletLocation(id, range, new ServerId(host, 1, 1), nextName));
  }

  /** Splits every tablet that has {@code row} inside, onto another server. */
  synchronized void split(Bytes row, String host) {
    TabletLocation parent = tablets.floorEntry(row).getValue();
    add(new RowRange(parent.extent().start(), row), parent.server().host());
    add(new RowRange(row, parent.extent().end()), host);
  }

  synchronized void put(Row row) {
    rows.put(row.key(), row);
  }

  synchronized void readPoint(long point) {
    readPoint = point;
  }

  synchronized void rowsAPage(int count) {
    rowsAPage = count;
  }

  /** What happens to a mutation instead of being applied. */
  synchronized void fault(Function<MutateBatch.Entry, Optional<Throwable>> newFault) {
    fault = newFault;
  }

  /** What happens to the answer of the n-th batch (from 0) after it was applied. */
  synchronized void afterBatch(Function<Integer, Optional<Throwable>> newFault) {
    afterBatch = newFault;
  }

  synchronized List<MutateBatch.Entry> applied() {
    return List.copyOf(applied);
  }

  synchronized List<ReadProto> reads() {
    return List.copyOf(reads);
  }

  /** What tasks said at their ends. */
  synchronized List<SettleProto> settles() {
    return List.copyOf(settles);
  }

  /** Nothing is applied any more: all records below are known to have been. */
  synchronized void settled(Settled records) {
    settled = Optional.of(records);
  }

  synchronized List<MutateProto> batches() {
    return List.copyOf(batches);
  }

  @Override
  public synchronized CompletableFuture<TabletLocation> locate(
      TableId table, Bytes row, Deadline deadline) {
    return CompletableFuture.completedFuture(tablets.floorEntry(row).getValue());
  }

  @Override
  public void failed(TabletLocation location, Attempts.Decision.Again next) {}

  @Override
  public CompletableFuture<Response> once(
      TabletLocation to, TabletAccess.Message message, Duration timeout) {
    byte[] copy = new byte[message.body().remaining()];
    message.body().get(copy);
    if (message.header().hasSettle()) {
      synchronized (this) {
        settles.add(message.header().getSettle());
      }
      return CompletableFuture.completedFuture(
          new Response(
              ResponseProto.newBuilder().setStatus(StatusProto.OK).build(), DataPlane.EMPTY));
    }
    return goingOn()
        .thenApplyAsync(
            nothing -> mutate(to, message.header().getMutate(), ByteBuffer.wrap(copy)), answers);
  }

  private synchronized CompletableFuture<Void> goingOn() {
    return goingOn;
  }

  /** From now on batches wait until {@link #goOn}. */
  synchronized void hold() {
    goingOn = new CompletableFuture<>();
  }

  void goOn() {
    goingOn().complete(null);
  }

  private synchronized Response mutate(TabletLocation to, MutateProto request, ByteBuffer body) {
    int number = batches.size();
    batches.add(request);
    if (settled.isPresent()) {
      return new Response(
          ResponseProto.newBuilder()
              .setStatus(StatusProto.OK)
              .addSettled(OperationCodec.encode(settled.get()))
              .build(),
          DataPlane.EMPTY);
    }
    List<Optional<Throwable>> outcomes = new ArrayList<>();
    RowOrder order = new RowOrder(OperationCodec.outstanding(request.getOperations()));
    for (MutateBatch.Entry entry : MutateBatch.decode(request, body, MemoryClaim.NONE)) {
      Bytes row = entry.mutation().row();
      Optional<Throwable> held = order.check(row).map(why -> why);
      Optional<Throwable> failure = held.isPresent() ? held : mutate(to, entry);
      failure.ifPresent(why -> order.failed(row, why));
      outcomes.add(failure);
    }
    afterBatch
        .apply(number)
        .ifPresent(
            failure -> {
              throw new CompletionException(failure);
            });
    return new Response(OperationCodec.encode(outcomes), ByteBuffer.allocate(0));
  }

  private Optional<Throwable> mutate(TabletLocation to, MutateBatch.Entry entry) {
    TabletLocation now = tablets.floorEntry(entry.mutation().row()).getValue();
    if (!now.tablet().equals(QueryCodec.decode(entry.tablet()))
        || !now.server().equals(to.server())) {
      return Optional.of(new NotServingTabletException(entry.tablet().getTablet()));
    }
    Optional<Throwable> failure = fault.apply(entry);
    if (failure.isEmpty() && known.putIfAbsent(entry.id().orElseThrow(), true) == null) {
      applied.add(entry);
      order.add(entry.id().orElseThrow().number());
    }
    return failure;
  }

  @Override
  public CompletableFuture<TabletAccess.Answer> send(
      TabletAccess.RowRequest request, Deadline deadline) {
    return CompletableFuture.supplyAsync(() -> answer(request.row(), request.call()), answers);
  }

  private synchronized TabletAccess.Answer answer(Bytes row, TabletAccess.Call call) {
    TabletLocation tablet = tablets.floorEntry(row).getValue();
    TabletAccess.Message message = call.to(tablet);
    RequestProto header = message.header();
    Response response =
        header.hasRead()
            ? read(tablet, header.getRead())
            : header.hasSampleRowKeys() ? sample(tablet) : change(header);
    return new TabletAccess.Answer(response, tablet);
  }

  /** An operation that is sent alone. */
  private Response change(RequestProto header) {
    OperationId id =
        (header.hasReadModifyWrite()
                ? OperationCodec.id(header.getReadModifyWrite())
                : OperationCodec.id(header.getCheckAndMutate()))
            .orElseThrow();
    if (known.putIfAbsent(id, true) == null) {
      singles.add(header);
      order.add(id.number());
    }
    return new Response(
        ResponseProto.newBuilder().setStatus(StatusProto.OK).build(), DataPlane.EMPTY);
  }

  /** The operations that were sent alone. */
  synchronized List<RequestProto> singles() {
    return List.copyOf(singles);
  }

  /** The numbers of all operations, as they were applied. */
  synchronized List<Long> order() {
    return List.copyOf(order);
  }

  private Response read(TabletLocation tablet, ReadProto request) {
    reads.add(request);
    RowQuery query = QueryCodec.decode(request.getQuery());
    CellBlockWriter block = CellBlockWriter.sequential(64);
    long count = 0;
    Optional<Bytes> next = Optional.empty();
    for (Row row : rows.values()) {
      boolean asked = query.ranges().stream().anyMatch(range -> range.contains(row.key()));
      if (!tablet.extent().contains(row.key()) || !asked) {
        continue;
      }
      if (count == Math.min(rowsAPage, query.rowLimit())) {
        next = Optional.of(row.key());
        break;
      }
      RowCodec.write(row, block);
      count++;
    }
    ResponseProto.Builder header =
        ResponseProto.newBuilder()
            .setStatus(StatusProto.OK)
            .setRows((int) count)
            .setReadPoint(request.getReadPoint() == 0 ? readPoint : request.getReadPoint())
            .setMore(next.isPresent());
    next.ifPresent(n -> header.setNextRow(ByteString.copyFrom(n.toByteArray())));
    return new Response(header.build(), RowCodec.body(block));
  }

  private Response sample(TabletLocation tablet) {
    ResponseProto.Builder header = ResponseProto.newBuilder().setStatus(StatusProto.OK);
    long offset = 0;
    for (Row row : rows.values()) {
      if (tablet.extent().contains(row.key())) {
        offset += 10;
        header.addSamples(
            SampleProto.newBuilder()
                .setRow(ByteString.copyFrom(row.key().toByteArray()))
                .setOffsetBytes(offset));
      }
    }
    header.addSamples(
        SampleProto.newBuilder()
            .setRow(ByteString.copyFrom(tablet.extent().end().toByteArray()))
            .setOffsetBytes(offset + 5));
    return new Response(header.build(), ByteBuffer.allocate(0));
  }

  static SteleException retryLater() {
    return SteleException.retryLater("the memtables are full");
  }
}
