package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockService;
import io.stele.master.ChangeRequest.Alter;
import io.stele.master.ChangeRequest.Create;
import io.stele.metadata.DroppedFamilies;
import io.stele.metadata.EndedChange;
import io.stele.metadata.JobNodes;
import io.stele.metadata.JobOrigin;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredJob;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The name of a dropped family is used again only when no job can have cells of it any more. */
class ReusedFamilyTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final Duration LEASE = Duration.ofHours(1);

  private final MasterFixture master = new MasterFixture();
  private final JobNodes jobs = new JobNodes(master.process, master.locks);

  private static TableSchema of(String... families) {
    return TableSchema.of("users", families);
  }

  private String begin() throws IOException {
    return jobs.begin(JobNodes.newRequest(master.process), LEASE, Optional.empty());
  }

  private String beginReading() throws IOException {
    String request = JobNodes.newRequest(master.process);
    return jobs.begin(
        request, LEASE, Optional.empty(), JobOrigin.UNKNOWN, StoredJob.Kind.READS_ONLY);
  }

  private Optional<EndedChange.Failure> alter(String id, String... families) throws Exception {
    TableAdmin.Answer answer = master.ask(id, new Alter(of(families), Optional.empty()));
    if (answer instanceof TableAdmin.Answer.Ended ended) {
      return ended.change().failure();
    }
    master.carryOn();
    return Optional.empty();
  }

  /** A table whose tablet is loaded. */
  private void create(String... families) throws Exception {
    master.ask("create", new Create(of(families), List.of()));
    master.carryOn();
    master.start(A);
    master.watch.refreshWithLogs();
    TableId table = master.schemas.require("users").id();
    for (TabletRecord tablet : master.records.reader().readAll(table)) {
      master.records.loaded(master.records.assign(tablet, A));
    }
  }

  private StoredTable stored() throws IOException {
    return master.schemas.require("users");
  }

  private static void assertWaits(Optional<EndedChange.Failure> failure, String... jobs) {
    assertThat(failure.map(EndedChange.Failure::code)).contains(Code.RETRY_LATER);
    assertThat(failure.map(EndedChange.Failure::message).orElseThrow())
        .containsAnyOf(jobs)
        .contains("try again when the job is over");
  }

  @Test
  void itIsUsedAgainWhenAllJobsThatWereInProgressAtTheDropAreOver() throws Exception {
    master.run(
        () -> {
          create("f", "g");
          String first = begin();
          String second = begin();
          assertThat(alter("less", "f")).isEmpty();
          begin(); // It finds no such family.

          assertWaits(alter("again", "f", "g"), first, second);
          assertThat(alter("another name", "f", "h")).isEmpty();
          jobs.end(first);
          assertWaits(alter("once more", "f", "g", "h"), second);
          jobs.commit(second);
          assertThat(alter("now", "f", "g", "h")).isEmpty();
          assertThat(stored().schema()).isEqualTo(of("f", "g", "h"));
          assertThat(stored().dropped()).isEqualTo(DroppedFamilies.NONE);
        });
  }

  @Test
  void jobsThatOnlyReadDoNotCountAndCannotCommit() throws Exception {
    master.run(
        () -> {
          create("f", "g");
          String reads = beginReading();
          assertThat(alter("less", "f")).isEmpty();
          assertThat(alter("again", "f", "g")).isEmpty();

          Schemas dying = new Schemas(master.process, onlyOneWrite(new AtomicInteger()));
          assertThatThrownBy(() -> dying.alter(stored(), of("f"))).isInstanceOf(IOException.class);
          assertThat(alter("once more", "f", "g")).isEmpty(); // Any job may be noted, but none can.
          assertThatThrownBy(() -> jobs.commit(reads)).hasMessageContaining("only reads");
          assertThatThrownBy(() -> jobs.finish(reads)).hasMessageContaining("only reads");
          assertThat(jobs.state(reads)).isEqualTo(JobNodes.State.BEGUN);
        });
  }

  @Test
  void aDropThatEndsBeforeTheJobsAreNotedWaitsForAllJobs() throws Exception {
    master.run(
        () -> {
          create("f", "g");
          String job = begin();
          AtomicInteger writes = new AtomicInteger();
          Schemas dying = new Schemas(master.process, onlyOneWrite(writes));
          assertThatThrownBy(() -> dying.alter(stored(), of("f"))).isInstanceOf(IOException.class);
          assertThat(writes).hasValue(2);
          assertThat(stored().schema()).isEqualTo(of("f"));
          String later = begin();

          assertWaits(alter("again", "f", "g"), job, later);
          jobs.end(later);
          assertWaits(alter("once more", "f", "g"), job);
          jobs.end(job);
          assertThat(alter("now", "f", "g")).isEmpty();
          assertThat(stored().dropped()).isEqualTo(DroppedFamilies.NONE);
        });
  }

  @Test
  void aDropThatIsContinuedNotesTheJobs() throws Exception {
    master.run(
        () -> {
          create("f", "g");
          String job = begin();
          Schemas dying = new Schemas(master.process, onlyOneWrite(new AtomicInteger()));
          assertThatThrownBy(() -> dying.alter(stored(), of("f"))).isInstanceOf(IOException.class);
          assertThat(alter("the same", "f")).isEmpty();
          assertThat(stored().dropped())
              .isEqualTo(new DroppedFamilies(Set.of("g"), Map.of(job, Set.of("g"))));
        });
  }

  @Test
  void theNextDropNotesTheJobsOfOneThatEndedBefore() throws Exception {
    master.run(
        () -> {
          create("f", "g", "h");
          String job = begin();
          Schemas dying = new Schemas(master.process, onlyOneWrite(new AtomicInteger()));
          assertThatThrownBy(() -> dying.alter(stored(), of("f", "h")))
              .isInstanceOf(IOException.class);
          assertThat(alter("least", "f")).isEmpty();
          assertThat(stored().dropped())
              .isEqualTo(new DroppedFamilies(Set.of("g", "h"), Map.of(job, Set.of("g", "h"))));
        });
  }

  /** The lock service of a process that ends after its first write. */
  private LockService onlyOneWrite(AtomicInteger writes) {
    return master.watched(
        method -> {
          if (method.equals("write") && writes.incrementAndGet() > 1) {
            throw new IOException("planted");
          }
        });
  }

  @Test
  void eachDropCountsForItsFamiliesAndJobsThatAreOverAreForgotten() throws Exception {
    master.run(
        () -> {
          create("f", "g", "h");
          String first = begin();
          assertThat(alter("less", "f", "h")).isEmpty();
          jobs.end(first);
          String second = begin();
          assertThat(alter("least", "f")).isEmpty();
          assertThat(stored().dropped())
              .isEqualTo(new DroppedFamilies(Set.of("g", "h"), Map.of(second, Set.of("h"))));

          assertThat(alter("g again", "f", "g")).isEmpty();
          assertThat(stored().schema()).isEqualTo(of("f", "g"));
          assertWaits(alter("h again", "f", "g", "h"), second);
          assertThat(alter("both", "f", "g", "h").map(EndedChange.Failure::message).orElseThrow())
              .contains("lost the family h,");
        });
  }
}
