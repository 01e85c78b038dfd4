package io.stele.master;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.JobNodes;
import io.stele.metadata.JobOrigin;
import io.stele.metadata.StoredJob;
import io.stele.model.SteleException;
import io.stele.sim.Simulation;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** Jobs at a master in a simulated process: what those ask of it who work for them. */
final class JobFixture {
  final MasterFixture master = new MasterFixture();
  final JobNodes nodes = new JobNodes(master.process, master.locks);
  final JobLeases leases;
  private final Duration lease; // Of each job.

  /** Applications are unknown to this master. */
  JobFixture(Duration lease) {
    this.lease = lease;
    this.leases = master.jobs;
  }

  JobFixture(Duration lease, Applications applications) {
    this.lease = lease;
    this.leases = new JobLeases(master.process, nodes, applications);
  }

  void run(Simulation.Work work) throws Exception {
    master.run(work);
  }

  /** Another master, which has not heard of any job yet. */
  JobLeases anotherMaster() {
    return new JobLeases(master.process, nodes, Applications.NONE);
  }

  /** Time in which no master looks for leases that have ended. */
  void passUnseen(Duration time) throws InterruptedException {
    master.sleep(time);
  }

  /** Time in which the master looks every second. */
  void pass(Duration time) throws Exception {
    pass(leases, time);
  }

  /** Time in which only {@code looking} looks, every second. */
  void pass(JobLeases looking, Duration time) throws Exception {
    for (long i = 0; i < time.toSeconds(); i++) {
      master.sleep(Duration.ofSeconds(1));
      looking.checkLeases();
    }
  }

  /** Does the work in each of so many seconds, after the master has looked. */
  void everySecond(int seconds, Simulation.Work work) throws Exception {
    for (int i = 0; i < seconds; i++) {
      pass(Duration.ofSeconds(1));
      work.run();
    }
  }

  /** A request that nobody has made yet. */
  String newRequest() {
    return JobNodes.newRequest(master.process);
  }

  Job begin() throws IOException {
    return begin(newRequest(), lease);
  }

  Job begin(String request, Duration itsLease) throws IOException {
    return begin(request, itsLease, Optional.empty());
  }

  /** A job that lives as long as an application does. */
  Job beginFor(String application) throws IOException {
    return begin(newRequest(), lease, Optional.of(application));
  }

  /** A job that is part of another one. */
  Job beginAsPartOf(Job whole) throws IOException {
    return beginFor(JobNodes.JOB + whole.name());
  }

  private Job begin(String request, Duration itsLease, Optional<String> application)
      throws IOException {
    return new Job(
        leases.begin(request, itsLease, application, JobOrigin.UNKNOWN, StoredJob.Kind.MAY_WRITE));
  }

  /** A job that was begun, as those see it who work for it. */
  final class Job {
    private final String name;

    private Job(String name) {
      this.name = name;
    }

    String name() {
      return name;
    }

    void renews() throws IOException {
      leases.renew(name);
    }

    void commits() throws IOException {
      leases.commit(name);
    }

    /** It has nothing to commit. */
    void finishes() throws IOException {
      leases.finish(name);
    }

    void ends() throws IOException {
      leases.end(name);
    }

    /** As the lock service has it. */
    StoredJob stored() throws IOException {
      return nodes.read(name).orElseThrow();
    }

    boolean isOver() throws IOException {
      return nodes.read(name).isEmpty();
    }

    void assertOver() throws IOException {
      assertThat(isOver()).as("job %s is over", name).isTrue();
    }

    void assertNotOver() throws IOException {
      assertThat(isOver()).as("job %s is over", name).isFalse();
    }

    void assertCommitted() throws IOException {
      assertThat(nodes.state(name)).isEqualTo(JobNodes.State.COMMITTED);
    }

    void assertGone() throws IOException {
      assertThat(nodes.state(name)).isEqualTo(JobNodes.State.GONE);
    }

    void mustWaitToCommit() {
      assertFails(SteleException.Code.RETRY_LATER, this::commits);
    }

    /** What it would begin to do next; it is the same until anything of the job changes. */
    Pinning nextPinning() throws IOException {
      return new Pinning(name, stored().version());
    }

    Pinning beginsToPin() throws IOException {
      Pinning pinning = nextPinning();
      assertThat(pinning.begins()).isTrue();
      return pinning;
    }
  }

  /** Tablets are being pinned for a job. */
  final class Pinning {
    private final String job;
    private final int id;

    private Pinning(String job, int id) {
      this.job = job;
      this.id = id;
    }

    /** Whether it has begun, or had begun already. */
    boolean begins() throws IOException {
      return begins(leases);
    }

    boolean begins(JobLeases asked) throws IOException {
      return asked.beginPinning(job, id);
    }

    void renews() throws IOException {
      renews(leases);
    }

    void renews(JobLeases asked) throws IOException {
      asked.renewPinning(job, id);
    }

    void ends() throws IOException {
      ends(leases);
    }

    void ends(JobLeases asked) throws IOException {
      asked.endPinning(job, id);
    }

    void mustWait() throws IOException {
      assertFails(SteleException.Code.RETRY_LATER, this::begins);
      assertThat(nodes.read(job).orElseThrow().isPinning()).isFalse();
    }
  }
}
