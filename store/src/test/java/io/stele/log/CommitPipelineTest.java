package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.files.DurableFiles;
import io.stele.files.DurableFiles.Placement;
import io.stele.model.Durability;
import io.stele.model.TabletKind;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The turns of two writers whose threads may be late. */
@Timeout(60)
class CommitPipelineTest extends LogTestCase {
  private final SlowDisk.Clock clock = new SlowDisk.Clock();
  private final SegmentLedger ledger = new SegmentLedger(clock);
  private final CommitPipeline pipeline = new CommitPipeline(clock, OPTIONS, ledger);
  private final WriterState one = pipeline.writers().get(0);
  private final WriterState other = pipeline.writers().get(1);

  @Test
  void aWriterWhoseTurnHasPassedGetsNoBatchOfTheOther() throws Exception {
    create(one);
    pipeline.add(new WaitingRecord(record(TABLET, 1, 10), Durability.HFLUSH, false));
    assertThat(pipeline.next(one)).isPresent();
    create(other);
    pipeline.failed(one, new IOException("the first segment fails"));
    assertThat(pipeline.awaitTurn(other)).isTrue();

    // The other's thread is stopped here, until its batch counts as slow.
    pipeline.busy(one);
    Thread watch = new Thread(pipeline::watch);
    watch.start();
    clock.awaitLooks(3);
    clock.pass(SlowFlushes.MOVED_SLOW_MIN.plusMillis(1));
    create(one);
    pipeline.busy(one); // So that the watch goes on.
    assertThat(pipeline.awaitTurn(one)).isTrue();
    pipeline.idle(one);

    assertThat(pipeline.next(other)).isEmpty();
    BatchInFlight batch = pipeline.next(one).orElseThrow();
    assertThat(pipeline.completed(other, batch, 1000)).as("it is not the other's").isFalse();
    assertThat(pipeline.completed(one, batch, 1000)).isTrue();
    assertThat(pipeline.next(other)).isEmpty();

    pipeline.close();
    assertThat(pipeline.next(one)).isEmpty();
    pipeline.writers().forEach(pipeline::ended);
    watch.join();
  }

  @Test
  void aSegmentWhoseCreationWasGivenUpIsNeitherKeptNorUsed() throws Exception {
    long number = pipeline.creating(one, Placement.ANYWHERE);
    pipeline.busy(one);
    Thread watch = new Thread(pipeline::watch);
    watch.start();
    await(
        () -> {
          clock.pass(WriterState.HUNG_AFTER);
          return ledger.unneeded().isPresent();
        });
    assertThat(ledger.unneeded()).contains(number);

    created(one, number);
    assertThat(pipeline.awaitTurn(one)).isFalse();
    create(one);
    assertThat(pipeline.awaitTurn(one)).isTrue();

    pipeline.close();
    pipeline.writers().forEach(pipeline::ended);
    watch.join();
  }

  private void create(WriterState writer) throws IOException {
    created(writer, pipeline.creating(writer, Placement.ANYWHERE));
  }

  private void created(WriterState writer, long number) throws IOException {
    pipeline.created(
        writer,
        SegmentWriter.create(
            new DurableFiles(fs),
            LogDirectory.segment(DIRECTORY, TabletKind.USER, number),
            new SegmentHeader(TabletKind.USER, SERVER, number),
            Placement.NEAR,
            1));
  }
}
