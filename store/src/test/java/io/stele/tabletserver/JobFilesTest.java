package io.stele.tabletserver;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CorruptionException;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import io.stele.sim.Operation;
import io.stele.tablet.ReadRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Files of jobs in the tablets of a server. */
class JobFilesTest extends JobFilesTestCase {
  /** Whether a request of a user may be answered now; throws why it may not. */
  private void mayAnswer() throws Exception {
    CompletableFuture<Void> answer = server.requested.mayAnswer(hosted);
    try {
      answer.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  private Cell newest(String row) throws IOException {
    ReadRequest newest = ReadRequest.of(RowQuery.row(row).versions(1));
    return hosted.tablet().read(newest).rows().get(0).cells().get(0);
  }

  private List<String> keys() throws IOException {
    return hosted.tablet().read(ReadRequest.of(RowQuery.ALL)).rows().stream()
        .map(Row::key)
        .map(Bytes::toUtf8)
        .toList();
  }

  @Test
  void filesAreSeenWhenTheirJobHasCommittedAndNoRequestIsAnsweredWithoutThem() throws Exception {
    TestServer.put(hosted, "a", "before");
    String job = begin();
    List<Pending> files = write(job, "b", "c");
    assertThat(server.requested.register(hosted, files)).isFalse();
    assertThat(server.minor.size()).as("not behind minor compactions").isZero();
    server.registering.work();
    assertThat(server.requested.register(hosted, files)).isTrue();
    assertThat(stored().pending()).isEqualTo(files);
    mayAnswer();
    assertThat(rows()).isEqualTo(1);

    assertThat(server.jobs.commit(job)).isTrue();
    assertFails(SteleException.Code.RETRY_LATER, this::mayAnswer);
    server.minor.work();
    assertThat(server.requested.resolve(hosted, job)).isTrue();
    mayAnswer();
    assertThat(rows()).isEqualTo(3);
    TestServer.put(hosted, "d", "after");
    assertThat(rows()).isEqualTo(4);
    assertThat(hosted.minor().free()).isEqualTo(1);
  }

  /** The clock of the host from which a job was submitted may be ahead. */
  @Test
  void whatIsWrittenAfterTheCommitIsNewerThanWhatTheJobWrote() throws Exception {
    String job = begin();
    long ahead = (System.currentTimeMillis() + 20_000) * 1000;
    register(writeAt(ahead, job, "b"));
    assertThat(server.jobs.commit(job)).isTrue();
    assertThat(server.requested.resolve(hosted, job)).isFalse();
    server.minor.work();
    assertThat(server.requested.resolve(hosted, job)).isTrue();
    assertThat(newest("b").value()).isEqualTo(Bytes.of("job"));
    TestServer.put(hosted, "b", "after");
    assertThat(newest("b").value()).isEqualTo(Bytes.of("after"));
  }

  @Test
  void aClockThatIsFarAheadIsNotBelieved() throws Exception {
    String job = begin();
    register(writeAt(Long.MAX_VALUE - 1, job, "b"));
    assertThat(server.jobs.commit(job)).isTrue();
    server.requested.resolve(hosted, job);
    server.minor.work();
    TestServer.put(hosted, "c", "after");
    long hour = Duration.ofHours(1).toMillis();
    assertThat(newest("c").timestampMicros() / 1000).isLessThan(System.currentTimeMillis() + hour);
  }

  @Test
  void aRequestThatWaitsForTheFilesOfAJobIsToldWhyTheyCannotBeTaken() throws Exception {
    String job = begin();
    List<Pending> files = write(job, "a");
    server.files.register(hosted, files);
    server.fs.delete(new Path(ROOT, only(files).path()), false);
    server.jobs.commit(job);
    anotherServerTakesTheTablet();
    assertThatThrownBy(this::mayAnswer).hasMessageEndingWith("try again");
    server.minor.work();
    assertFails(SteleException.Code.RETRY_LATER, this::mayAnswer)
        .hasMessageContaining("FileNotFoundException")
        .hasMessageContaining("bulk/" + job);
  }

  @Test
  void aRegistrationThatNobodyTriesAgainIsForgotten() throws Exception {
    Maintenance maintenance = server.maintenance();
    List<Pending> files = write(begin(), "b");
    world.disk.inject(TestServer.openingAnSSTableThrows("a fault of the code"));
    server.requested.register(hosted, files);
    server.registering.work();
    hosted.work().failed(Work.of(WorkKind.SPLIT), "tried again by rounds", false);
    pass(Duration.ofMinutes(10));
    maintenance.round();
    assertThat(hosted.work().troubles()).hasSize(2);
    pass(Duration.ofMinutes(1));
    maintenance.round();
    assertThat(hosted.work().troubles())
        .singleElement()
        .satisfies(trouble -> assertThat(trouble.work()).isEqualTo(Work.of(WorkKind.SPLIT)));
  }

  @Test
  void aRegistrationThatFailedWithoutDamageIsTriedAgain() throws Exception {
    List<Pending> files = write(begin(), "b");
    world.disk.inject(TestServer.openingAnSSTableThrows("a fault of the code"));
    assertThat(server.requested.register(hosted, files)).isFalse();
    server.registering.work();
    world.disk.heal();
    assertThat(hosted.work().troubles()).hasSize(1);
    assertThat(server.requested.register(hosted, files)).as("a little later").isFalse();
    pass(Duration.ofHours(1));
    assertThat(server.requested.register(hosted, files)).isFalse();
    server.registering.work();
    assertThat(server.requested.register(hosted, files)).isTrue();
    assertThat(hosted.work().troubles()).isEmpty();
  }

  @Test
  void whoLoadsATabletInWhichFilesWaitTakesThemOrStrikesThem() throws Exception {
    String committed = begin();
    String ended = begin();
    server.files.register(hosted, write(committed, "a", "b"));
    server.files.register(hosted, write(ended, "c"));
    server.jobs.commit(committed);
    server.jobs.end(ended);
    anotherServerTakesTheTablet();
    assertThat(JobFiles.jobsOf(hosted)).containsExactlyInAnyOrder(committed, ended);
    server.files.resolve(hosted);
    assertThat(rows()).isEqualTo(2);
    assertThat(stored().pending()).isEmpty();
    assertThat(stored().files()).hasSize(1);
  }

  /** A job with one row of its own in place of all that is there; its files are registered. */
  private String registerReplacing(String row) throws IOException {
    String job = begin();
    List<Pending> changes = new ArrayList<>(write(job, row));
    changes.add(new PendingReplacement(job, RowRange.ALL));
    server.files.register(hosted, changes);
    return job;
  }

  @Test
  void jobsThatReplaceRowsAreTakenInTheOrderOfTheirCommitsAndNothingComesBack() throws Exception {
    for (int i = 0; i < 4; i++) { // Names are random: their order must not count.
      hosted = server.takeNew(SCHEMA);
      TestServer.put(hosted, "old", "value");
      String one = registerReplacing("one");
      String two = registerReplacing("two");
      String plain = begin();
      server.files.register(hosted, write(plain, "plain"));
      String never = registerReplacing("never");
      TestServer.put(hosted, "meanwhile", "value");
      server.jobs.commit(plain);
      server.jobs.commit(two);
      server.jobs.commit(one);
      server.files.resolve(hosted);
      assertThat(keys()).containsExactly("one");
      TestServer.put(hosted, "later", "value");
      server.jobs.end(never);
      server.files.resolve(hosted);
      assertThat(keys()).containsExactly("later", "one");
      assertThat(stored().pending()).isEmpty();
    }
  }

  @Test
  void aReplacementWithoutFilesClearsItsRowsAndAPinGoesOnToSeeThem() throws Exception {
    for (String row : List.of("a", "b", "c")) {
      TestServer.put(hosted, row, "value");
    }
    String reader = begin();
    server.pins.pin(hosted, reader);
    String job = begin();
    server.files.register(hosted, List.of(new PendingReplacement(job, RowRange.of("b", "c"))));
    commitAndTake(job);
    assertThat(keys()).containsExactly("a", "c");
    assertThat(hosted.tablet().read(ReadRequest.of(RowQuery.ALL).atPin(reader)).rows()).hasSize(3);
    server.lifecycle.unload(hosted, false);
    hosted = server.take(stored());
    assertThat(keys()).containsExactly("a", "c");
  }

  @Test
  void aRequestThatComesAfterTheEndOfItsJobRegistersNothing() throws Exception {
    String ended = begin();
    server.jobs.end(ended);
    server.files.register(hosted, write(ended, "a"));
    String committed = begin();
    server.jobs.commit(committed);
    server.files.register(hosted, write(committed, "b"));
    assertThat(stored().pending()).isEmpty();
    assertThat(server.jobs.commit(ended)).isFalse();
  }

  @Test
  void aDamagedFileIsRefusedAndTheTabletGoesOn() throws Exception {
    String job = begin();
    List<Pending> damaged = List.of(new PendingFile(job, zeroesLike(only(write(job, "a")), job)));
    assertThatThrownBy(() -> server.files.register(hosted, damaged))
        .isInstanceOf(CorruptionException.class);
    server.requested.register(hosted, damaged);
    server.registering.work();
    assertFails(SteleException.Code.CORRUPTION, () -> server.requested.register(hosted, damaged));
    assertThat(hosted.tablet().failure()).isEmpty();
    TestServer.put(hosted, "a", "value");
  }

  /** Another file of a job, of the same size and with nothing but zeroes. */
  private FileRef zeroesLike(FileRef file, String job) throws IOException {
    String path = "bulk/" + job + "/other-0.sst";
    try (FSDataOutputStream out = server.fs.create(new Path(ROOT, path))) {
      out.write(new byte[(int) file.length()]);
    }
    return PendingFile.unnumbered(path, file.length(), file.bounds(), file.families());
  }

  @Test
  void aFileIsOpenedOnceAndClosedWhenItWaitsNoMore() throws Exception {
    String committed = begin();
    String ended = begin();
    List<Pending> files = write(committed, "a");
    List<Pending> unwanted = write(ended, "b");
    List<Pending> forgotten = write(begin(), "c");
    int open = server.fs.openReaders();
    long opened = world.disk.count(Operation.OPEN);
    server.files.register(hosted, files);
    server.files.register(hosted, unwanted);
    server.files.register(hosted, forgotten);
    server.jobs.end(ended);
    commitAndTake(committed);
    assertThat(rows()).isEqualTo(1);
    assertThat(world.disk.count(Operation.OPEN)).isEqualTo(opened + 3);
    assertThat(server.fs.openReaders()).isEqualTo(open + 2);
    server.lifecycle.unload(hosted, false);
    assertThat(server.fs.openReaders()).isEqualTo(open);
  }

  @Test
  void aPinSeesWhatHasCommittedBefore() throws Exception {
    String job = begin();
    server.files.register(hosted, write(job, "a"));
    server.jobs.commit(job);
    String reader = begin();
    server.requested.pin(hosted, reader);
    server.minor.work();
    assertThat(server.requested.pin(hosted, reader)).isTrue();
    assertThat(hosted.tablet().pins().get(0).readPoint()).isEqualTo(hosted.tablet().readPoint());
    assertThat(rows()).isEqualTo(1);
  }
}
