package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Durability;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.OperationSize;
import io.stele.model.Outstanding;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import io.stele.record.RecordChangeSize;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RecordChangeSizeTest {
  private static final String JOB = "job-1700000000000-0123456789abcdef";
  private static final TableId TABLE = new TableId("t1");

  private static Bytes row(Random random) {
    int most = random.nextBoolean() ? 30 : random.nextBoolean() ? 1_500 : 65_000;
    byte[] row = new byte[1 + random.nextInt(most)];
    if (random.nextBoolean()) { // Otherwise zeros, of which each takes two bytes in a key.
      random.nextBytes(row);
    }
    return Bytes.wrap(row);
  }

  private static RowRange range(Random random) {
    Bytes one = row(random);
    Bytes other = row(random);
    return one.compareTo(other) <= 0 ? new RowRange(one, other) : new RowRange(other, one);
  }

  private static FileRef file(Random random, RowRange rows) {
    FileRef.Builder file =
        FileRef.builder(
                PendingFile.directory(JOB) + "/attempt-" + random.nextInt() + ".sst",
                random.nextLong(1L << 40),
                rows)
            .families(List.of("family", "f" + random.nextInt(100)));
    long from = random.nextLong(1L << 50);
    return file.sequences(from, from + 1).collectedMicros(random.nextLong(1L << 55)).build();
  }

  @Test
  void whatIsCountedIsNeverLessThanAChangeTakesAndNotMuchMore() {
    long seed = Seeds.one();
    Random random = new Random(seed);
    for (int round = 0; round < 100; round++) {
      RowRange extent = range(random);
      TabletRecord record = TabletRecord.created(TabletId.random(TABLE, random), extent);
      RecordChangeSize size = new RecordChangeSize(extent);
      Mutation.Builder row = TabletRecords.change(record, "split", record.assignment());
      RecordCodec.putExtent(row, record);
      RecordCodec.putState(row, record);
      RecordCodec.putRedo(row, record.redo());
      int references = 1 + random.nextInt(100);
      for (int i = 0; i < references; i++) {
        FileRef file = file(random, range(random));
        Pending pending =
            random.nextBoolean()
                ? new PendingReplacement(JOB, range(random))
                : new PendingFile(
                    JOB,
                    PendingFile.unnumbered(
                        file.path(), file.length(), file.bounds(), file.families()));
        switch (random.nextInt(4)) {
          case 0 -> {
            size.put(file);
            RecordCodec.putFile(row, file);
          }
          case 1 -> {
            size.put(pending);
            RecordCodec.putPending(row, pending);
          }
          case 2 -> {
            size.remove(file);
            RecordCodec.deleteFile(row, record, file);
          }
          default -> {
            size.remove(pending);
            RecordCodec.deletePending(row, record, pending);
          }
        }
      }
      Mutation change = row.build();
      long request = request(record, change);
      long cells = OperationSize.of(change);
      assertThat(size.request())
          .as("seed %s, round %s", seed, round)
          .isBetween(request, 2 * request + (16 << 10));
      assertThat(size.cells())
          .as("seed %s, round %s", seed, round)
          .isBetween(cells, 2 * cells + (16 << 10) + 16 * OperationSize.keyBytes(record.row()));
    }
  }

  private static long request(TabletRecord record, Mutation change) {
    return OperationCodec.encode(
            QueryCodec.encode(record.id(), 1),
            Optional.empty(),
            Outstanding.from(1),
            Durability.HFLUSH,
            CheckAndMutate.ifAny(Filter.newestIs(RecordCodec.STATE, record.state()), change))
        .getSerializedSize();
  }
}
