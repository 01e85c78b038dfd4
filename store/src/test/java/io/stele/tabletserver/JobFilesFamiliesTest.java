package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.record.Pending;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.ReadRequest;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Files of jobs, and column families that come and go while their jobs run. */
class JobFilesFamiliesTest extends JobFilesTestCase {
  private static final TableSchema TWO_FAMILIES = TableSchema.of("t", "f", "other");

  private void alterFamilies(String... families) {
    TestServer.alter(hosted, TableSchema.of("t", families));
  }

  /** Otherwise the file would be in two stacks, and the tablet would be rewritten. */
  @Test
  void deletesOfColumnsGiveAFileNoOtherFamilies() throws Exception {
    hosted = server.takeNew(TWO_FAMILIES);
    String job = begin();
    server.files.register(
        hosted, write(job, TWO_FAMILIES, Mutation.of("r").deleteColumn("f", "q")));
    commitAndTake(job);
    assertThat(stored().files())
        .singleElement()
        .satisfies(file -> assertThat(file.families()).containsExactly("f"));
  }

  @Test
  void rowsThatAJobDeletesAreDeletedInFamiliesThatWereAddedMeanwhile() throws Exception {
    TestServer.put(hosted, "r", "before");
    String job = begin();
    List<Pending> files = write(job, SCHEMA, Mutation.of("r").deleteRow());
    alterFamilies("f", "n");
    hosted
        .tablet()
        .apply(OperationRequest.of(Mutation.of("r").put("n", "q", "put meanwhile")))
        .get(60, TimeUnit.SECONDS);
    server.files.register(hosted, files);
    commitAndTake(job);
    assertThat(rows()).isZero();
    assertThat(rowsOf("n")).isZero();
    hosted.tablet().majorCompact();
    assertThat(rows()).isZero();
    assertThat(rowsOf("n")).isZero();
  }

  private int rowsOf(String family) throws IOException {
    return hosted.tablet().read(ReadRequest.of(RowQuery.ALL.family(family))).rows().size();
  }

  @Test
  void aFamilyThatAJobHasNotWrittenMayBeDropped() throws Exception {
    hosted = server.takeNew(TWO_FAMILIES);
    List<Pending> files = write(begin(), TWO_FAMILIES, Mutation.of("r").put("f", "q", "job"));
    alterFamilies("f");
    server.files.register(hosted, files);
    assertThat(hosted.tablet().pending()).isEqualTo(files).isNotEmpty();
  }

  @Test
  void aDroppedFamilyIsErasedOnceNoFileOfAJobHasIt() throws Exception {
    TestServer.put(hosted, "a", "old");
    String job = begin();
    server.files.register(hosted, write(job, "b"));
    alterFamilies("g");
    server.beginChange("t", 7);
    server.requested.erase(hosted, 7, Set.of("f"));
    server.minor.work();
    assertThat(RowClearing.left(hosted, 7, RowRange.ALL)).isNotEmpty();
    assertThatThrownBy(() -> server.clearing.erase(hosted, 7, Set.of("f")))
        .hasMessageContaining("until the job is over")
        .hasMessageContaining(job);

    commitAndTake(job);
    server.clearing.erase(hosted, 7, Set.of("f"));
    assertThat(RowClearing.left(hosted, 7, RowRange.ALL)).isEmpty();
    assertThat(stored().cleared().of(7)).containsExactly(RowRange.ALL);
    alterFamilies("f", "g");
    assertThat(rows()).isZero();

    TestServer.put(hosted, "c", "new");
    server.requested.erase(hosted, 7, Set.of("f")); // It comes late.
    server.requested.erase(hosted, 6, Set.of("f"));
    server.minor.work();
    server.clearing.erase(hosted, 7, Set.of("f"));
    assertThat(rows()).isEqualTo(1);
    server.endChange("t");
    server.beginChange("t", 8);
    assertThatThrownBy(() -> server.clearing.erase(hosted, 8, Set.of("f")))
        .hasMessageContaining("which are to be erased");
    assertThat(rows()).isEqualTo(1);
  }

  @Test
  void filesWithAFamilyThatIsGoneByThenAreNotRegistered() throws Exception {
    List<Pending> files = write(begin(), "b");
    alterFamilies("g");
    server.files.register(hosted, files);
    assertThat(hosted.tablet().pending()).isEmpty();
  }
}
