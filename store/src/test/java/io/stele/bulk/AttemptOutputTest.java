package io.stele.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.Row;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the attempts of a task write, sorted and in runs, and what one that fails does not. */
@Timeout(120)
class AttemptOutputTest extends JobOutputTestCase {
  @Test
  void whatTheLaterTaskWroteToACellIsTheLaterAlsoWhereItsNumberHasMoreDigits() throws Exception {
    for (String task : List.of("task-1000000", "task-999999")) {
      try (AttemptOutput one = output.attempt(task + "-a", TERMS)) {
        one.addTable("web", table, SCHEMA);
        one.add("web", Mutation.of("row").put("f", "q", task));
        one.finish();
      }
      output.publish(task + "-a", task);
    }
    commit();
    Row row = stele.table("web").readRow("row").orElseThrow();
    assertThat(row.cells().get(0).value().toUtf8()).isEqualTo("task-1000000");
  }

  /** More than ten: the tablet goes by the names of the files. */
  @Test
  void ofRunsOfATaskTheLaterIsTheLaterChange() throws IOException {
    AttemptOutput.Sorting eachInItsRun = new AttemptOutput.Sorting(1, () -> {});
    try (AttemptOutput one = output.attempt("task-0-a", TERMS, eachInItsRun)) {
      one.addTable("web", table, SCHEMA);
      one.add("web", Mutation.of("z").put("f", "gone", "x"));
      one.add("web", Mutation.of("z").deleteRow());
      for (int i = 0; i < 12; i++) {
        one.add("web", Mutation.of("b").put("f", "q", "run " + i));
        one.add("web", Mutation.of("a").put("f", "q" + i, "x"));
      }
      one.finish();
    }
    assertThat(sstables()).isEqualTo(26);
    output.publish("task-0-a", "task-0");
    commit();
    assertThat(visible()).hasSize(2).contains("b q");
    Row row = stele.table("web").readRow("b").orElseThrow();
    assertThat(row.value("f", "q")).contains(Bytes.of("run 11"));
  }

  /** What was written to one table takes no room from another one that is written later. */
  @Test
  void tablesThatAreWrittenOneAfterTheOtherGetFewRuns() throws IOException {
    AttemptOutput.Sorting sorting = new AttemptOutput.Sorting(900 << 10, () -> {});
    try (AttemptOutput one = output.attempt("task-0-a", TERMS, sorting)) {
      for (String name : List.of("web", "other")) {
        one.addTable(name, table, SCHEMA);
      }
      for (String name : List.of("other", "web")) {
        for (int i = 0; i < 9000; i++) {
          one.add(name, Mutation.of("row" + i % 100).put("f", "q", "of " + name + " " + i));
        }
      }
      one.finish();
    }
    assertThat(sstables()).isBetween(2, 6);
  }

  @Test
  void anAttemptThatCouldNotWriteARunCannotFinishWithoutIt() throws IOException {
    AttemptOutput.Sorting sorting = new AttemptOutput.Sorting(64 << 20, () -> {});
    try (AttemptOutput one = output.attempt("task-0-a", TERMS, sorting)) {
      one.addTable("web", table, SCHEMA);
      // Each is more than a quarter of what a row may have: all its cells count with the key.
      Mutation.Builder wide = Mutation.builder(Bytes.of(new byte[Limits.ROW_BYTES_MAX]));
      for (long i = 0; i <= Limits.MUTATION_BYTES_MAX / 4; i += 2L * Limits.ROW_BYTES_MAX) {
        wide.put("f", Bytes.of("q"), Bytes.EMPTY);
      }
      Mutation more = wide.build();
      for (int i = 0; i < 4; i++) {
        one.add("web", more);
      }
      assertThatThrownBy(one::finish)
          .hasMessageContaining("the limit is " + Limits.MUTATION_BYTES_MAX);
      assertThatThrownBy(() -> one.add("web", Mutation.of("b").put("f", "q", "v")))
          .hasMessageContaining("let the task fail");
      assertThatThrownBy(one::finish) // Which may be all that MapReduce shows.
          .hasMessageContaining("the limit is")
          .hasMessageContaining("let the task fail");
    }
    assertThat(output.isFinished("task-0-a")).isFalse();
  }

  @Test
  void anAttemptThatCouldNotWriteARowCannotFinishWithoutItEvenIfTheProgramGoesOn()
      throws IOException {
    JobOutput failing = new JobOutput(jobs, job, new FirstCreateFails());
    try (AttemptOutput one = failing.attempt("task-0-a", TERMS)) {
      one.addTable("web", table, SCHEMA);
      assertThatThrownBy(
              () -> {
                for (String row : List.of("a", "b", "c")) {
                  one.add("web", Mutation.of(row).put("f", "q", "v"));
                }
                one.finish();
              })
          .hasMessageContaining("no room");
      assertThatThrownBy(() -> one.add("web", Mutation.of("d").put("f", "q", "v")))
          .hasMessageContaining("let the task fail");
      assertThatThrownBy(one::finish)
          .hasMessageContaining("no room")
          .hasMessageContaining("let the task fail");
    }
    assertThat(output.isFinished("task-0-a")).isFalse();
  }

  /** Files of the store; the first that is created is not. */
  private final class FirstCreateFails extends FilterFileSystem {
    private boolean failed;

    FirstCreateFails() throws IOException {
      super(files());
    }

    @Override
    public FSDataOutputStream createNonRecursive(
        Path path,
        FsPermission permission,
        EnumSet<CreateFlag> flags,
        int bufferBytes,
        short replication,
        long blockBytes,
        Progressable progress)
        throws IOException {
      if (!failed) {
        failed = true;
        throw new IOException("no room");
      }
      return super.createNonRecursive(
          path, permission, flags, bufferBytes, replication, blockBytes, progress);
    }
  }
}
