package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellBlockWriter;
import io.stele.format.RowCodec;
import io.stele.metadata.Attempts;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.Response;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

class RowsTest {
  private static final TableRef TABLE =
      new TableRef(
          Waiting.silent(SystemRuntime.INSTANCE),
          FakeTablets.TABLE,
          "webtable",
          Duration.ofSeconds(10));

  private final FakeTablets tablets = new FakeTablets();

  private List<String> read(RowQuery query) throws IOException {
    List<String> keys = new ArrayList<>();
    try (Rows rows = new Rows(tablets, TABLE, query, Table.ROW_BYTES_MAX)) {
      for (Row row : rows) {
        keys.add(row.key().toUtf8());
      }
    }
    return keys;
  }

  private void put(String... keys) {
    for (String key : keys) {
      tablets.put(new Row(Bytes.of(key), List.of(new Cell("f", Bytes.EMPTY, 1, Bytes.of("v")))));
    }
  }

  /** Answers reads as {@link #send} says, and nothing else. */
  private abstract static class ReadsOnly implements Tablets {
    @Override
    public CompletableFuture<TabletLocation> locate(TableId table, Bytes row, Deadline deadline) {
      throw new AssertionError();
    }

    @Override
    public void failed(TabletLocation location, Attempts.Decision.Again next) {}

    @Override
    public CompletableFuture<Response> once(
        TabletLocation to, TabletAccess.Message message, Duration timeout) {
      throw new AssertionError();
    }
  }

  /** An answer without rows. */
  private static TabletAccess.Answer nothing(Optional<byte[]> next) {
    ResponseProto.Builder header =
        ResponseProto.newBuilder()
            .setStatus(StatusProto.OK)
            .setReadPoint(7)
            .setMore(next.isPresent());
    next.ifPresent(row -> header.setNextRow(ByteString.copyFrom(row)));
    return new TabletAccess.Answer(
        new Response(header.build(), RowCodec.body(CellBlockWriter.sequential(64))),
        new TabletLocation(TabletId.ROOT, RowRange.ALL, new ServerId("a", 1, 1), 1));
  }

  /** Answers at once, on the caller's stack, with {@code empty} pages before the table's end. */
  private static Tablets emptyPages(int empty) {
    return new ReadsOnly() {
      private int pages;

      @Override
      public CompletableFuture<TabletAccess.Answer> send(
          TabletAccess.RowRequest request, Deadline deadline) {
        boolean more = pages++ < empty;
        byte[] next = ByteBuffer.allocate(5).put((byte) 'a').putInt(pages).array();
        return CompletableFuture.completedFuture(
            nothing(more ? Optional.of(next) : Optional.empty()));
      }
    };
  }

  /** Answers when the test does. */
  private static final class Unanswered extends ReadsOnly {
    final List<CompletableFuture<TabletAccess.Answer>> sent = new ArrayList<>();
    final List<Deadline> deadlines = new ArrayList<>();

    @Override
    public CompletableFuture<TabletAccess.Answer> send(
        TabletAccess.RowRequest request, Deadline deadline) {
      sent.add(new CompletableFuture<>());
      deadlines.add(deadline);
      return sent.get(sent.size() - 1);
    }

    /** The first read fails for want of time, as one does that was begun long before. */
    boolean failFirst() {
      return sent.get(0).completeExceptionally(SteleException.retryLater("not done in time"));
    }
  }

  @Test
  void aReadThatIsClosedMakesNoFurtherAttempts() {
    Unanswered unanswered = new Unanswered();
    new Rows(unanswered, TABLE, RowQuery.ALL, Table.ROW_BYTES_MAX).close();
    assertThat(unanswered.sent).hasSize(1).allMatch(CompletableFuture::isCancelled);
  }

  /** A client whose clock is ahead, and whose first read fails just before its time is over. */
  private static final class Late {
    static final Duration LIMIT = Duration.ofSeconds(10);

    final Unanswered unanswered = new Unanswered();
    Duration ahead = Duration.ZERO;

    Rows rows() {
      ProcessRuntime runtime =
          new ForwardingRuntime() {
            @Override
            public long nanoTime() {
              return super.nanoTime() + ahead.toNanos();
            }

            @Override
            public <T> T await(CompletableFuture<T> future)
                throws InterruptedException, ExecutionException {
              if (!failFirst()) {
                answerSecond();
              }
              return super.await(future);
            }
          };
      TableRef table = new TableRef(Waiting.silent(runtime), TABLE.id(), "webtable", LIMIT);
      return new Rows(unanswered, table, RowQuery.ALL, Table.ROW_BYTES_MAX);
    }

    boolean failFirst() {
      ahead = LIMIT.minusMillis(50);
      return unanswered.failFirst();
    }

    void answerSecond() {
      unanswered.sent.get(1).complete(nothing(Optional.empty()));
    }

    void assertAskedAgainUntilTheEndOfTheCall() {
      assertThat(unanswered.sent).hasSize(2);
      assertThat(unanswered.deadlines.get(1).remaining())
          .isBetween(Duration.ofSeconds(4), Duration.ofSeconds(6));
    }
  }

  @Test
  void whatWasFetchedAheadLongAgoAndFailsIsAskedForAgain() throws Exception {
    Late late = new Late();
    try (Rows rows = late.rows()) {
      late.ahead = Duration.ofSeconds(5);
      assertThat(rows.read()).isEmpty();
    }
    late.assertAskedAgainUntilTheEndOfTheCall();

    Late async = new Late();
    try (Rows rows = async.rows()) {
      async.ahead = Duration.ofSeconds(5);
      CompletableFuture<Optional<Row>> read = rows.readAsync();
      async.failFirst();
      assertThat(read).isNotDone();
      async.answerSecond();
      assertThat(read.join()).isEmpty();
    }
    async.assertAskedAgainUntilTheEndOfTheCall();
  }

  @Test
  void aCallWhoseTimeIsOverTooFailsAtOnce() {
    Late late = new Late();
    try (Rows rows = late.rows()) {
      late.ahead = Duration.ofMillis(20);
      assertThatThrownBy(rows::read).hasMessageContaining("not done in time");
    }
    Late async = new Late();
    try (Rows rows = async.rows()) {
      CompletableFuture<Optional<Row>> read = rows.readAsync();
      async.failFirst();
      assertThatThrownBy(read::join).hasMessageContaining("not done in time");
    }
    assertThat(late.unanswered.sent).hasSize(1);
    assertThat(async.unanswered.sent).hasSize(1);
  }

  @Test
  void howeverManyPagesAreEmptyTheStackDoesNotGrow() throws IOException {
    try (Rows rows = new Rows(emptyPages(200_000), TABLE, RowQuery.ALL, Table.ROW_BYTES_MAX)) {
      assertThat(rows.readAsync().join()).isEmpty();
    }
    Scan.Page page =
        Scan.of(RowQuery.ALL, Table.ROW_BYTES_MAX)
            .readRow(emptyPages(200_000), TABLE, RowQuery.ALL, TABLE.deadline())
            .join();
    assertThat(page.rows()).isEmpty();
  }

  @Test
  void readingWithoutWaitingEndsInTimeToo() {
    TableRef hasty =
        new TableRef(
            Waiting.silent(SystemRuntime.INSTANCE), TABLE.id(), "webtable", Duration.ofMillis(50));
    try (Rows rows =
        new Rows(emptyPages(Integer.MAX_VALUE), hasty, RowQuery.ALL, Table.ROW_BYTES_MAX)) {
      assertThatThrownBy(() -> rows.readAsync().join())
          .hasMessageContaining("has found no row yet");
    }
  }

  @Test
  void aScanThatIsMadeOnceSaysSoInEveryRequest() throws IOException {
    put("a", "b", "c");
    tablets.rowsAPage(1);
    assertThat(read(RowQuery.ALL)).hasSize(3);
    assertThat(tablets.reads()).noneMatch(ReadProto::getOnce);
    int before = tablets.reads().size();
    try (Rows rows = new Rows(tablets, TABLE.withoutCaching(), RowQuery.ALL, Table.ROW_BYTES_MAX)) {
      assertThat(rows).hasSize(3);
    }
    assertThat(tablets.reads().subList(before, tablets.reads().size()))
        .hasSizeGreaterThanOrEqualTo(3)
        .allMatch(ReadProto::getOnce);
  }

  @Test
  void anEmptyTableHasNoRows() throws IOException {
    assertThat(read(RowQuery.ALL)).isEmpty();
  }

  @Test
  void rowsOfAllTabletsComeInOrder() throws IOException {
    put("a", "b", "m", "n", "z");
    tablets.split(Bytes.of("m"), "b");
    tablets.split(Bytes.of("t"), "c");
    tablets.rowsAPage(1);
    assertThat(read(RowQuery.ALL)).containsExactly("a", "b", "m", "n", "z");
  }

  @Test
  void onlyTheRangesAskedForAreRead() throws IOException {
    put("a", "b", "c", "m", "n", "z");
    tablets.split(Bytes.of("m"), "b");
    RowQuery query =
        RowQuery.ALL.range(RowRange.of("n", "z")).range(RowRange.single(Bytes.of("b")));
    assertThat(read(query)).containsExactly("b", "n");
  }

  @Test
  void theRowLimitCountsOverTablets() throws IOException {
    put("a", "b", "m", "n");
    tablets.split(Bytes.of("m"), "b");
    assertThat(read(RowQuery.ALL.limit(3))).containsExactly("a", "b", "m");
    assertThat(tablets.reads()).hasSize(2);
    assertThat(tablets.reads().get(1).getQuery().getRowLimit()).isEqualTo(1);
  }

  @Test
  void pagesOfOneTabletAreReadAtOneReadPoint() throws IOException {
    put("a", "b", "m", "n");
    tablets.split(Bytes.of("m"), "b");
    tablets.rowsAPage(1);
    tablets.readPoint(7);
    assertThat(read(RowQuery.ALL)).hasSize(4);
    assertThat(tablets.reads()).extracting(ReadProto::getReadPoint).containsExactly(0L, 7L, 0L, 7L);
  }

  @Test
  void aTabletThatIsSplitMeanwhileIsReadOnAtTheSameReadPoint() throws IOException {
    put("a", "b", "m", "n");
    tablets.rowsAPage(1);
    tablets.readPoint(7);
    List<String> keys = new ArrayList<>();
    try (Rows rows = new Rows(tablets, TABLE, RowQuery.ALL, Table.ROW_BYTES_MAX)) {
      keys.add(rows.read().orElseThrow().key().toUtf8());
      tablets.split(Bytes.of("m"), "b");
      tablets.readPoint(9);
      for (Row row : rows) {
        keys.add(row.key().toUtf8());
      }
    }
    assertThat(keys).containsExactly("a", "b", "m", "n");
    assertThat(tablets.reads().stream().skip(1)).allMatch(read -> read.getReadPoint() == 7);
  }

  @Test
  void rowsCanBeReadWithoutWaiting() throws Exception {
    put("a", "b");
    try (Rows rows = new Rows(tablets, TABLE, RowQuery.ALL, Table.ROW_BYTES_MAX)) {
      assertThat(rows.readAsync().get()).map(Row::key).contains(Bytes.of("a"));
      assertThat(rows.readAsync().get()).map(Row::key).contains(Bytes.of("b"));
      assertThat(rows.readAsync().get()).isEqualTo(Optional.empty());
      assertThat(rows.readAsync().get()).isEqualTo(Optional.empty());
    }
  }

  @Test
  void aStreamEndsWithTheRows() {
    put("a", "b");
    try (var stream = new Rows(tablets, TABLE, RowQuery.ALL, Table.ROW_BYTES_MAX).stream()) {
      assertThat(stream.map(row -> row.key().toUtf8())).containsExactly("a", "b");
    }
  }

  @Test
  void aClosedReadIsNotReadOn() {
    put("a");
    Rows rows = new Rows(tablets, TABLE, RowQuery.ALL, Table.ROW_BYTES_MAX);
    rows.close();
    assertThatThrownBy(rows::read).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void samplesCountOverTablets() throws Exception {
    put("a", "b", "m");
    tablets.split(Bytes.of("m"), "b");
    assertThat(new Sampling(tablets, TABLE, RowRange.ALL, OptionalLong.empty()).run().get())
        .containsExactly(
            new RowKeySample(Bytes.of("a"), 10),
            new RowKeySample(Bytes.of("b"), 20),
            new RowKeySample(Bytes.of("m"), 25),
            new RowKeySample(Bytes.of("m"), 35),
            new RowKeySample(Bytes.EMPTY, 40));
  }
}
