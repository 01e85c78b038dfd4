package io.stele.master;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.JobNodes;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.PendingFile;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Who may use the directories of jobs. */
class JobDirectoriesTest {
  private static final Optional<String> ALICE = Optional.of("alice");

  private final MasterFixture master = new MasterFixture();

  private void run(io.stele.sim.Simulation.Work work) throws Exception {
    master.run(
        () -> {
          master.fs.mkdirs(master.layout.bulk());
          master.fs.keepLists();
          work.run();
        });
  }

  private TableId table(String name, String... readers) throws IOException, InterruptedException {
    TableSchema schema = TableSchema.of(name, "f").withReaders(readers);
    master.ask("create " + name, new ChangeRequest.Create(schema, List.of()));
    master.carryOn();
    return master.schemas.require(name).id();
  }

  private String begin() throws IOException {
    return master.beginJob(Duration.ofMinutes(1));
  }

  private Path directory(String job) {
    return master.layout.resolve(PendingFile.directory(job));
  }

  private List<String> named(String job) {
    return master.fs.named(directory(job));
  }

  @Test
  void theUserOfAJobMayWriteTheStoreAndReadersOfTheTableMayRead() throws Exception {
    run(
        () -> {
          TableId table = table("t", "user:carol");
          String job = begin();
          for (int i = 0; i < 2; i++) { // Asked again, it is the same.
            master.directories.make(job, List.of(table), ALICE);
            assertThat(named(job))
                .containsExactlyInAnyOrder(
                    "user:alice:rwx",
                    "user:carol:r-x",
                    "default:user:store:rwx",
                    "default:user:alice:rwx",
                    "default:user:carol:r-x");
            assertThat(master.fs.entries(directory(job)))
                .contains("other::---", "default:other::---", "default:group::---");
          }
        });
  }

  @Test
  void filesOfSeveralTablesAreReadByThoseWhoMayReadAll() throws Exception {
    run(
        () -> {
          TableId one = table("one", "user:carol", "user:dave");
          TableId two = table("two", "user:dave", "user:erin");
          TableId usual = table("usual");
          String both = begin();
          master.directories.make(both, List.of(one, two), ALICE);
          assertThat(named(both))
              .contains("user:dave:r-x")
              .noneMatch(entry -> entry.contains("carol") || entry.contains("erin"));
          String mixed = begin();
          master.directories.make(mixed, List.of(one, usual), ALICE);
          assertThat(named(mixed)).noneMatch(entry -> entry.contains("carol"));
          assertThat(master.fs.entries(directory(mixed))).contains("default:other::---");
          String none = begin();
          master.directories.make(none, List.of(usual), ALICE);
          assertThat(master.fs.entries(directory(none))).contains("default:other::r-x");
        });
  }

  @Test
  void aJobThatIsNotThereOrIsOverOrIsAnothersIsRefused() throws Exception {
    run(
        () -> {
          TableId table = table("t");
          String job = begin();
          String unknown = JobNodes.newRequest(master.process) + job.substring(32);
          assertFails(
              Code.NOT_FOUND, () -> master.directories.make(unknown, List.of(table), ALICE));
          assertFails(
              Code.REFUSED, () -> master.directories.make("../tables", List.of(table), ALICE));
          assertFails(
              Code.NOT_FOUND,
              () -> master.directories.make(job, List.of(new TableId("t99")), ALICE));
          master.directories.make(job, List.of(table), ALICE);
          assertThatThrownBy(() -> master.directories.make(job, List.of(table), Optional.of("bob")))
              .hasMessageContaining("that of user alice, not of bob");
          assertThat(named(job)).noneMatch(entry -> entry.contains("bob"));
          master.jobs.end(job);
          assertFails(Code.NOT_FOUND, () -> master.directories.make(job, List.of(table), ALICE));
        });
  }

  @Test
  void nobodyWritesForAJobThatHasCommittedWhicheverMasterWasTold() throws Exception {
    run(
        () -> {
          TableId table = table("t", "user:carol");
          String job = begin();
          String running = begin();
          master.directories.make(job, List.of(table), ALICE);
          master.directories.make(running, List.of(table), ALICE);
          master.jobs.commit(job); // And the master dies.
          JobDirectories next =
              new JobDirectories(
                  master.fs,
                  master.layout,
                  master.schemas,
                  new JobNodes(master.process, master.locks));
          next.endWriting();
          assertThat(named(job)).contains("user:alice:r-x", "user:carol:r-x");
          assertThat(named(job)).doesNotContain("user:alice:rwx");
          assertThat(named(running)).contains("user:alice:rwx");
          next.endWriting(job); // Again, it changes nothing.
          assertThat(named(job)).contains("user:alice:r-x");
          assertThat(named(running)).contains("user:alice:rwx");
        });
  }

  @Test
  void aRequestThatIsLateGivesNoRightAfterTheCommit() throws Exception {
    run(
        () -> {
          TableId table = table("t");
          String job = begin();
          master.directories.make(job, List.of(table), ALICE);
          master.fs.beforeNextList(
              () -> {
                try {
                  master.jobs.commit(job);
                  master.directories.endWriting(job);
                } catch (IOException e) {
                  throw new IllegalStateException(e);
                }
              });
          master.directories.make(job, List.of(table), ALICE);
          assertThat(named(job)).contains("user:alice:r-x").doesNotContain("user:alice:rwx");
        });
  }

  @Test
  void withoutListsTheJobMakesItsDirectory() throws Exception {
    master.run(
        () -> {
          master.fs.mkdirs(master.layout.bulk());
          String job = begin();
          master.directories.make(job, List.of(table("t")), ALICE);
          master.jobs.commit(job);
          master.directories.endWriting(job);
          master.directories.endWriting();
          assertThat(master.fs.listStatus(master.layout.bulk())).isEmpty();
        });
  }
}
