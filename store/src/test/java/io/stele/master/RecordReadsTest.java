package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.Lock;
import io.stele.metadata.Child;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.SplitRecords;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which records the master's loop reads. */
class RecordReadsTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);

  private final MasterFixture master = new MasterFixture();

  private static Bytes[] rows(int count) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(i -> Bytes.of(String.format("%06d", i)))
        .toArray(Bytes[]::new);
  }

  /** Splits a tablet at {@code row}, as its server does, which tells nobody. */
  private void splitSilently(TabletRecord parent, String row) throws Exception {
    TableId table = parent.id().table();
    Child lower = new Child(new TabletId(table, "00000000000000a1"), List.of());
    Child upper = new Child(new TabletId(table, "00000000000000a2"), List.of());
    new SplitRecords(master.records).split(parent, Bytes.of(row), lower, upper);
  }

  @Test
  void whereNothingChangesAPartOfTheRecordsIsReadEveryTenSeconds() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          master.start(A);
          TableId table = master.table("large", rows(2_500));
          // Until the loop knows that all are served.
          master.stepFor(Duration.ofSeconds(20), Duration.ofSeconds(1));
          assertThat(master.loop.view().isServed(table)).isTrue();
          int before = master.reads();
          master.stepFor(Duration.ofSeconds(60), Duration.ofSeconds(1));
          int pages = 4; // Of 256 rows, in a part of 1,000.
          assertThat(master.reads() - before).isBetween(pages, 6 * (pages + 1));
        });
  }

  @Test
  void tabletsThatWaitToBeServedAreNotReadInEachStep() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          Lock lock = master.start(A);
          int tablets = 400;
          TableId table = master.table("large", rows(tablets - 1));
          master.stepUntilIdle();
          assertThat(master.isServed(table)).isTrue();
          master.start(B);
          master.plane.away.addAll(master.tablets(table).stream().map(TabletRecord::id).toList());
          lock.release();
          master.sleep(MasterFixture.LEASE.multipliedBy(2));
          master.stepFor(Duration.ofMillis(250), Duration.ofMillis(50));
          int before = master.reads();
          master.stepFor(Duration.ofSeconds(2), Duration.ofMillis(50));
          int pages = 2; // Neighbours are read together, 256 at a time.
          assertThat(master.reads() - before).isLessThan(8 * pages);
        });
  }

  /** Not all of METADATA, on the thread that assigns tablets. */
  @Test
  void afterASplitOfAPartOfMetadataThatPartIsReadAgain() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          TableId table = master.table("large", rows(2_500));
          RecordFetch fetch = new RecordFetch(master.process, master.records.reader());
          KnownRecords known = new KnownRecords();
          RecordReads reads =
              new RecordReads(
                  master.process, master.records.reader(), fetch, known, master.signal, 1_000);
          Bytes half = MetadataKeys.lookup(table, Bytes.of("001000"));
          Bytes later = MetadataKeys.lookup(table, Bytes.of("002400"));
          ServedMetadata.Part first = part(1, Bytes.EMPTY, half);
          assertThat(reads.read(step(first, part(2, half, Bytes.EMPTY)))).isTrue();
          assertThat(known.of(table)).hasSize(2_501);

          int before = master.reads();
          assertThat(reads.read(step(first, part(3, half, later), part(4, later, Bytes.EMPTY))))
              .isTrue();
          int pages = 7; // Of 256 rows: those of 1,501 tablets, and one that is not full.
          assertThat(master.reads() - before).isBetween(6, pages);
          before = master.reads();
          assertThat(reads.read(step(first, part(3, half, later), part(5, later, Bytes.EMPTY))))
              .isTrue();
          assertThat(master.reads() - before).isEqualTo(1);
          fetch.close();
        });
  }

  private static ServedMetadata.Part part(int number, Bytes start, Bytes end) {
    return new ServedMetadata.Part(
        new TabletId(TableId.METADATA, String.format("%016x", number)), new RowRange(start, end));
  }

  private static RecordReads.Round step(ServedMetadata.Part... parts) {
    return new RecordReads.Round(
        new ServedMetadata(true, List.of(parts)), () -> false, List.of(), Set.of());
  }

  @Test
  void whatAServerSplitBeforeItDiedIsServedElsewhere() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          Lock lock = master.start(A);
          TableId table = master.table("users", Bytes.of("m"));
          master.stepUntilIdle();
          splitSilently(master.only(table), "c");
          master.start(B);
          lock.release();
          assertServedSoon(table);
        });
  }

  @Test
  void theOtherHalfOfATabletThatWasReadAgainIsReadToo() throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          Lock lock = master.start(A);
          TableId table = master.table("users");
          master.stepUntilIdle();
          splitSilently(master.only(table), "m");
          master.loop.changed(List.of(new RecordRow(table, MasterFixture.lastRow(table))));
          master.loop.step();
          master.start(B);
          lock.release();
          assertServedSoon(table);
        });
  }

  /** Before the first part of METADATA is read again. */
  private void assertServedSoon(TableId table) throws Exception {
    master.stepFor(Duration.ofSeconds(5), Duration.ofMillis(50));
    assertThat(master.tablets(table)).allMatch(record -> record.assignment().isTo(B));
    assertThat(master.isServed(table)).isTrue();
  }
}
