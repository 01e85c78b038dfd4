package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.JobNodes;
import io.stele.metadata.StoredJob;
import io.stele.metadata.TabletRecord;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.record.PendingFile;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** What is left of jobs that are over. */
class JobSweepTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final Duration LEASE = Duration.ofSeconds(10);

  private final MasterFixture master = new MasterFixture();
  private final JobNodes nodes = new JobNodes(master.process, master.locks);
  private final JobSweep sweep = sweep(master.fs);
  private TabletRecord tablet;

  private JobSweep sweep(FileSystem fs) {
    return new JobSweep(
        master.records.reader(), master.schemas, fs, master.layout, nodes, master.jobs);
  }

  private void run(io.stele.sim.Simulation.Work work) throws Exception {
    master.run(
        () -> {
          master.bootstrap();
          TabletRecord created = master.records.reader().readAll(master.table("users")).get(0);
          tablet = master.records.loaded(master.records.assign(created, A));
          work.run();
        });
  }

  private String begin() throws IOException {
    return master.beginJob(LEASE);
  }

  private PendingFile file(String job, String name) throws IOException {
    String path = PendingFile.directory(job) + "/" + name + ".sst";
    master.fs.create(new Path(master.layout.root(), path)).close();
    return new PendingFile(
        job, FileRef.builder(path, 0, RowRange.ALL).families(List.of("f")).build());
  }

  private boolean exists(PendingFile file) throws IOException {
    return master.fs.exists(new Path(master.layout.root(), file.file().path()));
  }

  private void edit(ManifestEdit.Builder edit) throws IOException {
    tablet = master.records.edit(tablet, edit.reach(1, 1).build());
  }

  private static ManifestEdit.Builder bulk() {
    return ManifestEdit.builder("bulk");
  }

  private void lookFor(Duration time) throws Exception {
    for (long i = 0; i < time.toSeconds(); i++) {
      master.sleep(Duration.ofSeconds(1));
      master.jobs.checkLeases();
    }
  }

  /** An operator may make its node again. */
  @Test
  void filesOfATableWhoseNodeIsLostStay() throws Exception {
    run(
        () -> {
          String job = begin();
          PendingFile file = file(job, "a-0");
          edit(bulk().pending(List.of(file)));
          master.loseNode(tablet.id().table());
          master.jobs.end(job);
          assertThat(sweep.sweep()).isZero();
          assertThat(exists(file)).isTrue();
        });
  }

  @Test
  void filesThatWaitInAnUnloadedTabletOfATableWhoseNodeIsLostStay() throws Exception {
    run(
        () -> {
          String job = begin();
          PendingFile file = file(job, "a-0");
          master.memory.put(
              master.records.unloaded(tablet, "a test").toBuilder().pending(List.of(file)).build());
          master.loseNode(tablet.id().table());
          master.jobs.end(job);
          assertThat(sweep.sweep()).isZero();
          assertThat(exists(file)).isTrue();
        });
  }

  @Test
  void filesStayWhileTheirJobMayCommitAndGoWhenItIsOver() throws Exception {
    run(
        () -> {
          String job = begin();
          PendingFile waiting = file(job, "a-0");
          PendingFile other = file(job, "b-0");
          edit(bulk().pending(List.of(waiting)));
          assertThat(sweep.sweep()).isZero();
          master.jobs.end(job);
          assertThat(sweep.sweep()).isEqualTo(1);
          assertThat(exists(waiting)).as("a record names it").isTrue();
          assertThat(exists(other)).isFalse();
          edit(bulk().resolve(job));
          assertThat(sweep.sweep()).isEqualTo(1);
          assertThat(master.fs.listStatus(master.layout.bulk())).isEmpty();
        });
  }

  @Test
  void aFileThatATabletHasDroppedIsNotItsToDelete() throws Exception {
    run(
        () -> {
          String job = begin();
          PendingFile merged = file(job, "a-0");
          PendingFile other = file(job, "killed-0");
          edit(bulk().add(List.of(merged.file())));
          master.jobs.end(job);
          edit(bulk().remove(List.of(merged.file())));
          assertThat(tablet.dropped()).containsOnlyKeys(merged.file().path());
          assertThat(sweep.sweep()).isEqualTo(1);
          assertThat(exists(other)).isFalse();
          assertThat(exists(merged)).as("somebody may still read it").isTrue();
          tablet = master.records.forgetDropped(tablet, List.of(merged.file().path()));
          assertThat(sweep.sweep()).isEqualTo(1);
          assertThat(master.fs.listStatus(master.layout.bulk())).isEmpty();
        });
  }

  @Test
  void whatTheStoreMayNotDeleteKeepsNothingElse() throws Exception {
    run(
        () -> {
          List<String> jobs = List.of(begin(), begin()).stream().sorted().toList();
          file(jobs.get(0), "a-0");
          PendingFile other = file(jobs.get(1), "b-0");
          Path foreign = new Path(master.layout.bulk(), jobs.get(0));
          master.fs.makeForeign(foreign);
          for (String job : jobs) {
            master.jobs.end(job);
          }
          assertThat(sweep.sweep()).isEqualTo(1);
          assertThat(exists(other)).isFalse();
          assertThat(master.fs.exists(foreign)).isTrue();
        });
  }

  /** As a snapshot may protect it. */
  @Test
  void whatCannotBeDeletedKeepsNothingElse() throws Exception {
    run(
        () -> {
          List<String> jobs = List.of(begin(), begin()).stream().sorted().toList();
          PendingFile stuck = file(jobs.get(0), "a-0");
          PendingFile other = file(jobs.get(1), "b-0");
          Path directory = new Path(master.layout.bulk(), jobs.get(0));
          FileSystem fs =
              new FilterFileSystem(master.fs) {
                @Override
                public boolean delete(Path path, boolean recursive) throws IOException {
                  if (path.getName().equals(directory.getName())) {
                    throw new IOException("for the test");
                  }
                  return super.delete(path, recursive);
                }
              };
          for (String job : jobs) {
            master.jobs.end(job);
          }
          assertThat(sweep(fs).sweep()).isEqualTo(1);
          assertThat(exists(other)).isFalse();
          assertThat(exists(stuck)).isTrue();
        });
  }

  @Test
  void aJobThatHasCommittedIsForgottenAfterItsLeaseAndNotWhileFilesWait() throws Exception {
    run(
        () -> {
          String job = begin();
          PendingFile taken = file(job, "a-0");
          PendingFile left = file(job, "killed-0");
          edit(bulk().pending(List.of(taken)));
          master.jobs.commit(job);
          master.jobs.commit(job);
          lookFor(LEASE.plusSeconds(5));
          assertThat(sweep.sweep()).isZero();
          assertThat(nodes.state(job)).isEqualTo(JobNodes.State.COMMITTED);
          edit(bulk().add(List.of(taken.file())).resolve(job));
          sweep.sweep();
          assertThat(nodes.state(job)).isEqualTo(JobNodes.State.GONE);
          assertThat(nodes.commit(job)).isFalse();
          assertThat(sweep.sweep()).isEqualTo(1);
          assertThat(exists(taken)).isTrue();
          assertThat(exists(left)).isFalse();
        });
  }

  @Test
  void aJobCommitsOrIsEndedAndNeverBoth() throws Exception {
    run(
        () -> {
          String job = begin();
          StoredJob seen = nodes.read(job).orElseThrow();
          assertThat(nodes.commit(job)).isTrue();
          assertThat(nodes.remove(job, seen)).isFalse();
          nodes.end(job);
          assertThat(nodes.state(job)).isEqualTo(JobNodes.State.COMMITTED);
          assertThat(nodes.renew(job)).isFalse();
          String other = begin();
          nodes.end(other);
          assertThat(nodes.commit(other)).isFalse();
        });
  }
}
