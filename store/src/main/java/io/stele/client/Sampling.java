package io.stele.client;

import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.runtime.Futures;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.SampleProto;
import io.stele.wire.data.DataProtos.SampleRowKeysProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * Samples a table's rows: asks one tablet at a time and joins the answers, with offsets that
 * include the tablets before.
 *
 * <p>Not safe for use by several threads; answers arrive one at a time.
 */
final class Sampling {
  private final Tablets tablets;
  private final TableRef table;
  private final List<RowKeySample> samples = new ArrayList<>();
  private final RowRange rows;
  private final OptionalLong pieceBytes;
  private Bytes from;
  private long bytes;

  /**
   * Samples of whole tablets.
   *
   * @param rows those of the tablets
   * @param pieceBytes what lies between two samples, about; empty: the servers choose
   */
  Sampling(Tablets tablets, TableRef table, RowRange rows, OptionalLong pieceBytes) {
    this.tablets = tablets;
    this.table = table;
    this.rows = rows;
    this.pieceBytes = pieceBytes;
    this.from = rows.start();
  }

  /** The samples of all the rows. */
  CompletableFuture<List<RowKeySample>> run() {
    return Futures.repeat(this::next);
  }

  /** Samples the next tablet; the samples of all, once it was the last. */
  private CompletableFuture<Optional<List<RowKeySample>>> next() {
    Bytes row = from;
    TabletAccess.RowRequest request =
        new TabletAccess.RowRequest(
            table.id(),
            row,
            table.purpose(Effect.READ, () -> "sampling the rows of table " + table.name()),
            this::request);
    return tablets
        .send(request, table.deadline())
        .thenApply(
            answer -> {
              from = take(answer);
              return from.isEmpty() || !rows.isBeforeEnd(from)
                  ? Optional.of(List.copyOf(samples))
                  : Optional.empty();
            });
  }

  private TabletAccess.Message request(TabletLocation tablet) {
    SampleRowKeysProto.Builder asked =
        SampleRowKeysProto.newBuilder()
            .setTablet(QueryCodec.encode(tablet.tablet(), tablet.epoch()));
    pieceBytes.ifPresent(asked::setPieceBytes);
    return TabletAccess.Message.of(RequestProto.newBuilder().setSampleRowKeys(asked));
  }

  /** Adds a tablet's samples, and one for its end. */
  private Bytes take(TabletAccess.Answer answer) {
    RowRange extent = answer.location().extent();
    long tabletBytes = 0;
    for (SampleProto sample : answer.response().header().getSamplesList()) {
      Bytes row = Bytes.wrap(sample.getRow().toByteArray());
      boolean isNew = row.compareTo(from) >= 0; // Its tablet may be merged with one before.
      if (!row.isEmpty() && isNew && extent.contains(row)) {
        samples.add(new RowKeySample(row, bytes + sample.getOffsetBytes()));
      }
      tabletBytes = Math.max(tabletBytes, sample.getOffsetBytes());
    }
    bytes += tabletBytes;
    samples.add(new RowKeySample(extent.end(), bytes));
    return extent.end();
  }
}
