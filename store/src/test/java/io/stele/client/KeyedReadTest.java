package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.Attempts.Decision;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.Response;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads of rows by their keys, over tablets in memory. */
class KeyedReadTest {
  private static final TableRef TABLE =
      new TableRef(
          Waiting.silent(SystemRuntime.INSTANCE),
          FakeTablets.TABLE,
          "webtable",
          Duration.ofSeconds(10));

  private final FakeTablets tablets = new FakeTablets();

  @BeforeEach
  void threeTablets() {
    Stream.of("a", "b", "c", "m", "n", "z")
        .forEach(
            key ->
                tablets.put(
                    new Row(Bytes.of(key), List.of(new Cell("f", Bytes.EMPTY, 1, Bytes.of("v"))))));
    tablets.split(Bytes.of("m"), "b");
    tablets.split(Bytes.of("t"), "c");
  }

  private static Map<Bytes, Row> read(Tablets from, String... keys) {
    List<Bytes> rows = Stream.of(keys).map(Bytes::of).toList();
    return new KeyedRead(
            from, TABLE, rows, RowQuery.ALL.limit(1), Table.ROW_BYTES_MAX, TABLE.deadline())
        .run()
        .join();
  }

  @Test
  void rowsOfOneTabletAreAskedForTogetherAndMissingOnesAreLeftOut() {
    Map<Bytes, Row> rows = read(tablets, "z", "b", "a", "b", "no", "n");
    assertThat(rows.keySet()).extracting(Bytes::toUtf8).containsExactly("a", "b", "n", "z");
    assertThat(rows.get(Bytes.of("n")).value("f", "")).contains(Bytes.of("v"));
    assertThat(tablets.reads())
        .extracting(read -> read.getQuery().getRangesCount())
        .containsExactlyInAnyOrder(2, 2, 1);
  }

  @Test
  void noKeysAreNoRequest() {
    assertThat(read(tablets)).isEmpty();
    assertThat(tablets.reads()).isEmpty();
  }

  @Test
  void rowsOfATabletThatComeInSeveralPagesAreAllRead() {
    tablets.rowsAPage(1);
    assertThat(read(tablets, "a", "b", "c", "m", "n", "z")).hasSize(6);
  }

  @Test
  void tabletsAreReadAtTheSameTime() {
    AtomicInteger asked = new AtomicInteger();
    CompletableFuture<Void> all = new CompletableFuture<>();
    Tablets together =
        new Forwarding() {
          @Override
          public CompletableFuture<TabletAccess.Answer> send(
              TabletAccess.RowRequest request, Deadline deadline) {
            if (asked.incrementAndGet() == 3) {
              all.complete(null);
            }
            return all.thenCompose(nothing -> super.send(request, deadline));
          }
        };
    assertThat(read(together, "a", "m", "z")).hasSize(3);
  }

  @Test
  void whatCannotBeLocatedNowIsLeftToTheReadWhichTriesAgain() {
    Tablets lost =
        new Forwarding() {
          @Override
          public CompletableFuture<TabletLocation> locate(
              TableId table, Bytes row, Deadline deadline) {
            return CompletableFuture.failedFuture(SteleException.retryLater("not now"));
          }
        };
    assertThat(read(lost, "a", "m", "z")).hasSize(3);
  }

  @Test
  void oneTabletThatCannotBeReadFailsAll() {
    Tablets broken =
        new Forwarding() {
          @Override
          public CompletableFuture<TabletAccess.Answer> send(
              TabletAccess.RowRequest request, Deadline deadline) {
            return request.row().equals(Bytes.of("m"))
                ? CompletableFuture.failedFuture(SteleException.retryLater("not now"))
                : super.send(request, deadline);
          }
        };
    assertThatThrownBy(() -> read(broken, "a", "m", "z")).hasMessageContaining("not now");
  }

  /** Passes every call on. */
  private class Forwarding implements Tablets {
    @Override
    public CompletableFuture<TabletLocation> locate(TableId table, Bytes row, Deadline deadline) {
      return tablets.locate(table, row, deadline);
    }

    @Override
    public void failed(TabletLocation location, Decision.Again next) {
      tablets.failed(location, next);
    }

    @Override
    public CompletableFuture<Response> once(
        TabletLocation to, TabletAccess.Message message, Duration timeout) {
      return tablets.once(to, message, timeout);
    }

    @Override
    public CompletableFuture<TabletAccess.Answer> send(
        TabletAccess.RowRequest request, Deadline deadline) {
      return tablets.send(request, deadline);
    }
  }
}
