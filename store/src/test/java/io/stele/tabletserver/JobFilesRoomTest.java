package io.stele.tabletserver;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.OperationSize;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.RecordChangeSize;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Files of jobs for which a tablet, or its record, has no room. */
class JobFilesRoomTest extends JobFilesTestCase {
  /** Each file has the first row and the last. */
  private void makeFilesOverAllRows(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      TestServer.put(hosted, "00000", "first");
      TestServer.put(hosted, "99999", "last");
      hosted.tablet().minorCompact();
    }
  }

  /** Each range divides each file: what is registered must have room when it is taken. */
  @Test
  void replacementsThatWouldDivideTheFilesOfATabletTooOftenAreRefused() throws Exception {
    makeFilesOverAllRows(12);
    String job = begin();
    List<Pending> many = replacements(job, 400);
    assertFails(SteleException.Code.RETRY_LATER, () -> server.requested.register(hosted, many))
        .hasMessageContaining("replace fewer ranges");

    hosted.tablet().majorCompact();
    register(many);
    assertThat(server.jobs.commit(job)).isTrue();
    assertThat(server.requested.resolve(hosted, job)).isFalse();
    server.minor.work();
    assertThat(stored().files()).hasSizeBetween(400, 4_000);
    assertThat(rows()).isEqualTo(2);
  }

  /** Registered, taken and split in one write each: METADATA refuses those that are too large. */
  @Test
  void filesWithLongRowsAreRefusedBeforeTheyAreTooMuchForTheRecord() throws Exception {
    world.metadata.before(
        update -> {
          if (request(update) > RecordChangeSize.REQUEST_BYTES_MAX
              || OperationSize.of(update) > RecordChangeSize.CELL_BYTES_MAX) {
            throw SteleException.refused("the request is too large");
          }
        });
    List<Pending> tooLarge = withLongRows(begin(), 450);
    assertFails(SteleException.Code.REFUSED, () -> server.requested.register(hosted, tooLarge))
        .hasMessageContaining("write the output with fewer tasks");

    String job = begin();
    register(withLongRows(job, 300));
    List<Pending> more = withLongRows(begin(), 150);
    assertFails(SteleException.Code.RETRY_LATER, () -> server.requested.register(hosted, more));

    commitAndTake(job);
    assertThat(stored().files()).hasSize(300);
    server.splitter.split(hosted, Bytes.of("m".repeat(3_000)));
    int rows = 0;
    for (HostedTablet half : server.context.tablets().all()) {
      rows += TestServer.rows(half);
      half.tablet().majorCompact();
    }
    assertThat(rows).isEqualTo(600);
    assertThat(server.aborts).isEmpty();
  }

  private List<Pending> withLongRows(String job, int count) throws IOException {
    List<Pending> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String end = "r".repeat(2_995) + String.format("%05d", i);
      files.addAll(writeByTask(job, "task-" + i, "a" + end.substring(1), end));
    }
    return files;
  }

  private static long request(Mutation update) {
    long bytes = update.row().length();
    for (Edit edit : update.edits()) {
      bytes +=
          edit instanceof Edit.Put put
              ? put.qualifier().length() + (long) put.value().length()
              : ((Edit.DeleteColumn) edit).qualifier().length();
    }
    return bytes;
  }

  /** A job's own files come above the rows that it replaces. */
  @Test
  void aJobDoesNotDivideItsOwnFiles() throws Exception {
    String job = begin();
    List<Pending> changes = new ArrayList<>(replacements(job, 200));
    for (int task = 0; task < 30; task++) {
      changes.addAll(writeByTask(job, "task-" + task, "00000", "99999"));
    }
    register(changes);
    commitAndTake(job);
    assertThat(stored().files()).hasSize(30);
  }

  @Test
  void aTabletThatWouldBeDividedTooMuchTakesFilesOnceItIsCompacted() throws Exception {
    String job = begin();
    server.files.register(hosted, replacements(job, 1_800));
    makeFilesOverAllRows(12); // After it was registered.
    server.jobs.commit(job);
    List<FileRef> before = stored().files();
    assertFails(SteleException.Code.RETRY_LATER, () -> server.files.resolve(hosted))
        .hasMessageContaining("unites its files");
    assertThat(stored().files()).isEqualTo(before);
    assertThat(server.aborts).isEmpty();
    hosted.tablet().majorCompact();
    server.files.resolve(hosted);
    assertThat(hosted.tablet().pending()).isEmpty();
    assertThat(rows()).isEqualTo(2);
  }

  @Test
  void moreThanARecordHasRoomForIsRefused() throws Exception {
    String job = begin();
    List<Pending> many = replacements(job, 1_001);
    assertThat(server.requested.register(hosted, many)).isFalse();
    server.registering.work();
    assertThat(server.requested.register(hosted, many)).isTrue();

    List<Pending> more = replacements(job, 4_002);
    assertFails(SteleException.Code.REFUSED, () -> server.requested.register(hosted, more))
        .hasMessageContaining("would have 4001 files");
    assertThat(stored().pending()).hasSize(1_000);
  }
}
