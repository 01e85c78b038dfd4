package io.stele.cli;

import io.stele.client.ClusterJob;
import io.stele.client.ClusterJob.Runner;
import io.stele.client.Stele;
import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.IoFunction;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.yarn.JobApplications.Found;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Has YARN kill what runs a job, and sees to it that the cluster's jobs end with it. Done again, it
 * changes nothing. For use by one thread.
 */
final class JobKill {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);

  /** The master asks YARN every 10 s; where it cannot, nobody else ends the jobs soon. */
  private static final Duration LEFT_TO_MASTER = Duration.ofSeconds(25);

  /** MapReduce's names of jobs and YARN's of applications. */
  private static final Pattern OF_YARN = Pattern.compile("(?:job|application)(_\\d+_\\d+)");

  private final Stele stele;
  private final IoFunction<Runner, List<Found>> applications;
  private final IoConsumer<String> killer;
  private final Consumer<String> out;

  /**
   * @param applications finds what YARN knows
   * @param killer has YARN kill an application
   * @param out takes lines for people
   */
  JobKill(
      Stele stele,
      IoFunction<Runner, List<Found>> applications,
      IoConsumer<String> killer,
      Consumer<String> out) {
    this.stele = stele;
    this.applications = applications;
    this.killer = killer;
    this.out = out;
  }

  /** What runs, or ran, some of the cluster's jobs. */
  private record Target(List<Found> applications, Set<String> jobs) {}

  /**
   * Kills what runs {@code job}, and waits until its jobs are over.
   *
   * @param job the cluster's name of it or its beginning, or MapReduce's or YARN's name
   * @throws SteleException NOT_FOUND if nobody knows it, REFUSED if it has committed or it is not
   *     known what runs it, OUTCOME_UNKNOWN if it has not ended in time
   */
  void run(String job, Duration timeout) throws IOException {
    Matcher ofYarn = OF_YARN.matcher(job);
    Optional<Target> target =
        ofYarn.matches() ? ofApplication("application" + ofYarn.group(1)) : ofJob(job);
    if (target.isEmpty()) {
      return;
    }
    Deadline deadline = Deadline.after(RUNTIME, timeout);
    for (Found application : target.get().applications()) {
      if (application.alive()) {
        killer.accept(application.id());
        out.accept("Told YARN to kill " + application.id() + ".");
      } else {
        out.accept(application.id() + " has ended already (" + application.state() + ").");
      }
    }
    List<Runner> killed =
        target.get().applications().stream()
            .map(one -> new Runner(Runner.Kind.APPLICATION, one.id()))
            .toList();
    awaitEnd(killed, deadline);
    Deadline patience = Deadline.after(RUNTIME, LEFT_TO_MASTER);
    for (String name : target.get().jobs()) {
      awaitEnd(name, patience, deadline);
    }
  }

  /** Empty if it has ended, and so have the cluster's jobs. */
  private Optional<Target> ofApplication(String id) throws IOException {
    List<Found> found = applications.apply(new Runner(Runner.Kind.APPLICATION, id));
    List<ClusterJob> all = stele.admin().listJobs();
    Set<String> jobs = new HashSet<>();
    for (ClusterJob job : all) {
      Optional<Runner> runner = root(job, all).runner();
      if (runner.isPresent()
          && (runner.get().name().equals(id)
              || applications.apply(runner.get()).stream().anyMatch(one -> one.id().equals(id)))) {
        jobs.add(job.name());
      }
    }
    if (!jobs.isEmpty()) {
      requireToBeKilled(id, found, all.stream().filter(job -> jobs.contains(job.name())).toList());
      return Optional.of(new Target(found, jobs));
    }
    if (found.isEmpty()) {
      throw SteleException.notFound(
          "YARN knows no application " + id + "; `stele job list` shows the jobs there are");
    }
    if (found.get(0).alive()) {
      throw SteleException.refused(
          id + " runs no job of this cluster; `yarn application -kill " + id + "` ends it");
    }
    out.accept(
        id
            + " has ended already ("
            + found.get(0).state()
            + "). The cluster keeps nothing for it.");
    return Optional.empty();
  }

  private static void requireToBeKilled(String id, List<Found> found, List<ClusterJob> jobs) {
    String names = jobs.stream().map(ClusterJob::name).collect(Collectors.joining(", "));
    if (found.isEmpty()) {
      throw SteleException.refused(
          "YARN knows no application "
              + id
              + ", which runs jobs of this cluster: "
              + names
              + ". If it does not run any more, `stele job end JOB --yes` has the cluster forget them");
    }
    if (jobs.stream().allMatch(job -> job.state() == ClusterJob.State.COMMITTED)) {
      throw SteleException.refused(
          id + " has committed its jobs (" + names + "): their output is visible, and stays");
    }
  }

  private Optional<Target> ofJob(String text) throws IOException {
    List<ClusterJob> all = stele.admin().listJobs();
    Optional<ClusterJob> found = JobNames.find(all, text);
    if (found.isEmpty() && JobNodes.isName(text)) { // No name is used twice.
      out.accept("Job " + text + " is over already.");
      return Optional.empty();
    }
    ClusterJob job =
        found.orElseThrow(
            () ->
                SteleException.notFound(
                    "there is no job " + text + "; `stele job list` shows those there are"));
    if (job.state() == ClusterJob.State.COMMITTED) {
      throw SteleException.refused(
          "job " + job.name() + " has committed: its output is visible, and stays");
    }
    ClusterJob root = root(job, all);
    Runner runner =
        root.runner()
            .filter(by -> by.kind() != Runner.Kind.JOB)
            .orElseThrow(() -> unknownRunner(job, "nothing is known of what runs it"));
    List<Found> run = applications.apply(runner);
    if (run.isEmpty()) {
      throw unknownRunner(job, "YARN knows no application that runs it (" + runner.name() + ")");
    }
    Set<String> jobs = new HashSet<>();
    all.stream()
        .filter(one -> root(one, all).runner().equals(Optional.of(runner)))
        .forEach(one -> jobs.add(one.name()));
    return Optional.of(new Target(run, jobs));
  }

  private static SteleException unknownRunner(ClusterJob job, String why) {
    return SteleException.refused(
        "job "
            + job.name()
            + ": "
            + why
            + ". End it where it runs; if it does not run any more, `stele job end JOB --yes` has"
            + " the cluster forget it");
  }

  /** The job of which {@code job} is a part, or itself. */
  private static ClusterJob root(ClusterJob job, List<ClusterJob> all) {
    ClusterJob root = job;
    for (int depth = 0; depth < all.size(); depth++) {
      Optional<String> whole =
          root.runner().filter(by -> by.kind() == Runner.Kind.JOB).map(Runner::name);
      Optional<ClusterJob> next =
          whole.flatMap(name -> all.stream().filter(one -> one.name().equals(name)).findFirst());
      if (next.isEmpty()) {
        break;
      }
      root = next.get();
    }
    return root;
  }

  private void awaitEnd(List<Runner> killed, Deadline deadline) throws IOException {
    for (Runner runner : killed) {
      while (applications.apply(runner).stream().anyMatch(Found::alive)) {
        if (deadline.isOver()) {
          throw new SteleException(
              SteleException.Code.OUTCOME_UNKNOWN,
              "YARN was told to kill "
                  + runner.name()
                  + ", which has not ended yet: run this again to wait for it");
        }
        pause();
      }
    }
  }

  /** Waits for the master to end the job, and ends it if the master does not. */
  private void awaitEnd(String job, Deadline patience, Deadline deadline) throws IOException {
    JobNodes.State state = stele.jobs().state(job);
    while (state == JobNodes.State.BEGUN && !patience.isOver() && !deadline.isOver()) {
      pause();
      state = stele.jobs().state(job);
    }
    if (state == JobNodes.State.BEGUN) {
      stele.jobs().end(job);
      state = stele.jobs().state(job);
    }
    out.accept(
        state == JobNodes.State.COMMITTED
            ? "Job " + job + " had committed before: its output stays."
            : "Job " + job + " is over.");
  }

  private static void pause() throws IOException {
    try {
      RUNTIME.sleep(LOOK_EVERY);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for the end of a job that was killed");
    }
  }
}
