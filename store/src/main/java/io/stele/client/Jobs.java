package io.stele.client;

import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.JobNodes;
import io.stele.metadata.StoredJob;
import io.stele.metadata.StoredTable;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TableUse;
import io.stele.record.JobChange;
import io.stele.runtime.Deadline;
import io.stele.wire.control.ControlProtos.BeginJobRequestProto;
import io.stele.wire.control.ControlProtos.CommitJobRequestProto;
import io.stele.wire.control.ControlProtos.EndJobRequestProto;
import io.stele.wire.control.ControlProtos.JobUseProto;
import io.stele.wire.control.ControlProtos.MakeJobDirectoryRequestProto;
import io.stele.wire.control.ControlProtos.PinningProto;
import io.stele.wire.control.ControlProtos.RenewJobRequestProto;
import io.stele.wire.control.ControlProtos.RenewJobResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Jobs that keep points of tables readable, however long they take, and whose files become visible
 * all at once.
 *
 * <p>A job is there from {@link #begin} until {@link #end}, or until nobody has renewed it for its
 * lease. While it is there, what it has pinned is kept: deleted and overwritten cells then stay on
 * disk. Internal: for input and output formats. Safe for use by any number of threads.
 */
public final class Jobs {
  private static final Logger LOG = LoggerFactory.getLogger(Jobs.class);

  /** Often: a master that hears nothing for seconds lets other jobs commit. */
  private static final Duration RENEWED_WHILE_PINNING = Duration.ofSeconds(1);

  /**
   * How long a commit waits for tablets that are away or have no room, and then while others pin
   * tables: hours of work may have gone before it.
   */
  private static final Duration PATIENCE = Duration.ofMinutes(30);

  private final Connection connection;
  private final Admin admin;
  private final JobEnvironment environment;

  Jobs(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
    this.environment = new JobEnvironment(connection, admin);
  }

  /** Where and how jobs write. */
  public JobEnvironment environment() {
    return environment;
  }

  /**
   * Begins a job.
   *
   * @param lease how long it stays if nobody renews it
   * @return its name, which no other job ever has
   * @throws SteleException REFUSED for a lease that is too short or too long
   */
  public String begin(Duration lease) throws IOException {
    return begin(lease, Optional.empty());
  }

  /**
   * Like {@link #begin(Duration)}.
   *
   * @param application what runs the job, as YARN names it, or {@link SubmittedOutput#keeper}:
   *     while that waits or runs, the job needs no renewal, and it is over soon after. If the
   *     master cannot ask YARN, its lease counts
   */
  public String begin(Duration lease, Optional<String> application) throws IOException {
    return begin(lease, application, List.of());
  }

  /**
   * Like {@link #begin(Duration, Optional)}.
   *
   * @param uses which tables it reads or writes, for those who look at it. If it says what it does
   *     and only reads, it can never commit
   */
  public String begin(Duration lease, Optional<String> application, List<TableUse> uses)
      throws IOException {
    BeginJobRequestProto.Builder draft =
        BeginJobRequestProto.newBuilder()
            .setRequest(JobNodes.newRequest(connection.runtime()))
            .setLeaseMillis(lease.toMillis())
            .setReadsOnly(!uses.isEmpty() && uses.stream().noneMatch(use -> use.how().writes()));
    application.ifPresent(draft::setApplication);
    for (TableUse use : uses) {
      draft.addUses(
          JobUseProto.newBuilder()
              .setTable(use.table())
              .setHow(JobUseProto.How.valueOf(use.how().name())));
    }
    BeginJobRequestProto request = draft.build();
    return admin
        .calls()
        .ask(Effect.CHANGE_WITH_ID, "beginning a job", master -> master.beginJob(null, request))
        .getJob();
  }

  /**
   * An application that has no name yet, for {@link #begin}: whatever YARN has with a tag.
   *
   * @param tag of lower-case letters, digits and hyphens
   */
  public static String tagged(String tag) {
    return JobNodes.TAG + tag;
  }

  /**
   * Restarts the lease of a job.
   *
   * @throws SteleException NOT_FOUND if the job is over
   */
  public void renew(String job) throws IOException {
    RenewJobRequestProto request = RenewJobRequestProto.newBuilder().setJob(job).build();
    // An answer that is lost leaves nothing in doubt: asked again, the master knows.
    admin.calls().ask(Effect.READ, "renewing job " + job, master -> master.renewJob(null, request));
  }

  /**
   * The lease of a job as a configuration sets it: a time such as {@code 2h}, or seconds.
   *
   * @param unset the lease if {@code key} is not set
   * @throws SteleException REFUSED, with the key, if it is not a time, or is too short or too long
   */
  public static Duration lease(Configuration conf, String key, Duration unset) {
    Duration lease;
    try {
      lease =
          Duration.ofMillis(
              conf.getTimeDuration(
                  key, unset.toSeconds(), TimeUnit.SECONDS, TimeUnit.MILLISECONDS));
    } catch (NumberFormatException e) {
      throw new SteleException(
          SteleException.Code.REFUSED,
          key + " is \"" + conf.get(key) + "\", which is not a time such as 90s, 10m or 2h",
          e);
    }
    JobNodes.checkLease(lease, key);
    return lease;
  }

  /** The lease with which a job was begun; empty if the job is over. */
  Optional<Duration> leaseOf(String job) throws IOException {
    return read("reading the lease of job " + job, job).map(StoredJob::lease);
  }

  private Optional<StoredJob> read(String what, String job) throws IOException {
    return connection.readLocks(what, () -> connection.jobNodes().read(job));
  }

  /** Renews a job at once, and several times in its lease until that is closed. */
  public JobRenewal keep(String job) {
    return JobRenewal.start(connection.runtime(), this, job);
  }

  /**
   * Commits a job: its files become visible, and the rows that it replaces disappear. A reader that
   * has seen any part of this sees all of it in every later read. Then the job ends. May be
   * repeated, even by several processes at once with the same changes; it takes effect once.
   *
   * <p>Waits up to half an hour for tablets that cannot register their files, and then up to half
   * an hour while tables are pinned for other jobs. If it fails with OUTCOME_UNKNOWN or is
   * interrupted, the job may have committed; after any other failure it has not.
   *
   * @param changes by the table; no two files of one writer have cells of the same columns
   * @throws SteleException NOT_FOUND if a table is gone, or the job is over and it is not known
   *     whether it has committed; REFUSED if a table has not all families of a file, or a tablet
   *     server is too old to replace rows; CORRUPTION if a file is damaged; RETRY_LATER if a tablet
   *     could not be reached in time
   */
  @SuppressWarnings("try") // Renewed while the block runs.
  public void commit(String job, Map<TableId, JobChange> changes) throws IOException {
    JobCommit commit = new JobCommit(connection, job);
    if (state(job) != JobNodes.State.COMMITTED) {
      try (JobRenewal renewal = keep(job)) {
        registerWhileTabletsAreAway(job, changes);
        commitWhileOthersPin(job);
      }
    }
    for (Map.Entry<TableId, JobChange> table : new TreeMap<>(changes).entrySet()) {
      commit.resolve(table.getKey(), table.getValue());
    }
  }

  private void registerWhileTabletsAreAway(String job, Map<TableId, JobChange> changes)
      throws IOException {
    Deadline end = Deadline.after(connection.runtime(), PATIENCE);
    Pauses pauses = new Pauses(connection.runtime(), "committing job " + job);
    while (true) {
      try {
        register(job, changes);
        return;
      } catch (IOException | SteleException e) {
        if (!ClusterCalls.mayPass(e) || end.isOver()) {
          throw e;
        }
        LOG.warn("Job {} cannot commit yet; will retry: {}", job, e.getMessage());
      }
      pauses.pause();
      switch (state(job)) {
        case BEGUN -> checkTables(changes); // What these say does not pass.
        case COMMITTED -> {
          return; // Somebody else has committed it meanwhile.
        }
        case GONE -> throw JobCommit.over(job);
      }
    }
  }

  /**
   * Checks what can be known of the tables that a job changes before any tablet is asked.
   *
   * @throws SteleException NOT_FOUND if a table is gone, REFUSED if it lacks a family of a file
   */
  public void checkTables(Map<TableId, JobChange> changes) throws IOException {
    for (Map.Entry<TableId, JobChange> change : new TreeMap<>(changes).entrySet()) {
      TableId id = change.getKey();
      TableSchema schema =
          connection
              .readLocks("reading the schema of table " + id, () -> connection.schemas().table(id))
              .filter(table -> table.state() != StoredTable.State.DROPPING)
              .orElseThrow(() -> SteleException.notFound("table " + id + " was dropped"))
              .schema();
      change.getValue().files().forEach(file -> file.requireFamilies(schema));
    }
  }

  private void commitWhileOthersPin(String job) throws IOException {
    CommitJobRequestProto request = CommitJobRequestProto.newBuilder().setJob(job).build();
    Deadline end = Deadline.after(connection.runtime(), PATIENCE);
    boolean inDoubt = false;
    while (true) {
      try {
        admin
            .calls()
            .ask(
                Effect.CHANGE_WITH_ID,
                "committing job " + job,
                master -> master.commitJob(null, request));
        return;
      } catch (SteleException e) {
        boolean unknown = e.code() == SteleException.Code.OUTCOME_UNKNOWN;
        inDoubt |= unknown; // Perhaps only the last answer before the timeout came too late.
        if ((e.code() != SteleException.Code.RETRY_LATER && !unknown) || end.isOver()) {
          throw inDoubt && !unknown ? SteleException.outcomeUnknown(e.getMessage(), e) : e;
        }
        LOG.warn("Job {} cannot commit yet; will retry: {}", job, e.getMessage());
      }
    }
  }

  /**
   * Has what a job does wait in the tablets that have rows of it: the first half of {@link
   * #commit}, which does it too. Each tablet has {@code stele.client.timeout} to learn of its
   * files.
   */
  public void register(String job, Map<TableId, JobChange> changes) throws IOException {
    JobCommit commit = new JobCommit(connection, job);
    for (Map.Entry<TableId, JobChange> table : new TreeMap<>(changes).entrySet()) {
      if (!commit.register(table.getKey(), table.getValue())) {
        return; // Somebody else has committed the job meanwhile.
      }
    }
  }

  /**
   * Has the directory of a job's files made, in which this user may write. The store can read and
   * delete them there, and those who may read all of the tables can read them.
   *
   * @param tables that the job writes
   * @throws SteleException NOT_FOUND if the job is over, or a table was dropped; REFUSED if another
   *     user did this before
   */
  public void makeDirectory(String job, Collection<TableId> tables) throws IOException {
    MakeJobDirectoryRequestProto request =
        MakeJobDirectoryRequestProto.newBuilder()
            .setJob(job)
            .addAllTableIds(tables.stream().map(TableId::value).toList())
            .build();
    admin
        .calls()
        .ask(
            Effect.CHANGE_WITH_ID,
            "making the directory of job " + job,
            master -> master.makeJobDirectory(null, request));
  }

  /** What can be said of a job now. */
  public JobNodes.State state(String job) throws IOException {
    return connection.readLocks("asking about job " + job, () -> connection.jobNodes().state(job));
  }

  /**
   * Ends a job: what it has pinned may go, and files that it has written do not become visible.
   * Does nothing if it is over.
   */
  public void end(String job) throws IOException {
    end(EndJobRequestProto.newBuilder().setJob(job).build());
  }

  /**
   * Ends a job of which something has failed while it was submitted. If it cannot be ended, it ends
   * when its lease is over; that is added to {@code failure}, which is what people are to see.
   */
  public void endAfter(Throwable failure, String job) {
    try {
      end(job);
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /**
   * Ends a job all of whose output is visible already: {@link #state} says that it has committed.
   * What it has pinned may go. Does nothing if it is over.
   */
  public void finish(String job) throws IOException {
    end(EndJobRequestProto.newBuilder().setJob(job).setFinished(true).build());
  }

  private void end(EndJobRequestProto request) throws IOException {
    admin
        .calls()
        .ask(
            Effect.CHANGE_WITH_ID,
            "ending job " + request.getJob(),
            master -> master.endJob(null, request));
  }

  /** Like {@link #pin(String, Map)}, for one range of rows. */
  public void pin(String job, String table, RowRange rows) throws IOException {
    pin(job, Map.of(table, List.of(rows)));
  }

  /**
   * Pins the tablets with rows of tables in them for a job. All that was acknowledged before is
   * then seen by reads at the pin, whoever does them and however late; and of a job that commits
   * meanwhile all is seen, in all these rows, or nothing. One process at a time pins for a job.
   *
   * <p>Each tablet has {@code stele.client.timeout} to be pinned. No job commits meanwhile. Where
   * this fails, ending the job undoes what was done.
   *
   * @param rows by the table's name
   * @throws SteleException NOT_FOUND if there is no table of that name, or the job is over;
   *     RETRY_LATER if a tablet could not be pinned in time, or pinning could not begin in time as
   *     a commit that has waited for long comes first; REFUSED if this process was not heard of for
   *     many seconds, so that other jobs have committed
   */
  public void pin(String job, Map<String, List<RowRange>> rows) throws IOException {
    int pinning = beginPinning(job);
    try (JobRenewal renewal =
        JobRenewal.start(connection.runtime(), this, job, pinning, RENEWED_WHILE_PINNING)) {
      List<Pinning.Rows> all = new ArrayList<>();
      for (Map.Entry<String, List<RowRange>> one : new TreeMap<>(rows).entrySet()) {
        if (!one.getValue().isEmpty()) {
          TableId table = admin.tableId(one.getKey());
          all.add(new Pinning.Rows(table, one.getKey(), RowRanges.of(one.getValue())));
        }
      }
      new Pinning(connection, job).run(all, renewal);
    }
    pinning(job, pinning, PinningProto.Step.IS_DONE);
  }

  /** Begins to pin; returns the id of the pinning. */
  private int beginPinning(String job) throws IOException {
    String what = "beginning to pin tables for job " + job;
    Deadline end = Deadline.after(connection.runtime(), connection.timeout());
    Pauses pauses = new Pauses(connection.runtime(), what);
    while (true) {
      int id =
          read(what, job)
              .map(StoredJob::version)
              .orElseThrow(() -> SteleException.notFound("job " + job + " is over"));
      if (!pinning(job, id, PinningProto.Step.BEGINS).getChanged()) {
        return id;
      }
      if (end.isOver()) {
        throw SteleException.retryLater(what + ": others have changed the job again and again");
      }
      pauses.pause(); // Others renew it.
    }
  }

  /** Renews a job, and its pinning {@code id}. */
  void renewPinning(String job, int id) throws IOException {
    pinning(job, id, PinningProto.Step.GOES_ON);
  }

  private RenewJobResponseProto pinning(String job, int id, PinningProto.Step step)
      throws IOException {
    RenewJobRequestProto request =
        RenewJobRequestProto.newBuilder()
            .setJob(job)
            .setPinning(PinningProto.newBuilder().setId(id).setStep(step))
            .build();
    String what =
        switch (step) {
          case BEGINS -> "beginning to pin tables for job ";
          case GOES_ON -> "pinning tables for job ";
          case IS_DONE -> "having pinned tables for job ";
        };
    // An answer that is lost leaves nothing in doubt.
    return admin.calls().ask(Effect.READ, what + job, master -> master.renewJob(null, request));
  }
}
