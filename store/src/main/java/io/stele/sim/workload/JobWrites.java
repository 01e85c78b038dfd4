package io.stele.sim.workload;

import io.stele.bulk.AttemptOutput;
import io.stele.bulk.JobOutput;
import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.JobChange;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.JobChecker;
import io.stele.sim.check.RegisterChecker;
import io.stele.sim.check.Result;
import io.stele.sim.check.RowChecker;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * A table that jobs write files for while others write, delete and read: what a job wrote is
 * visible in all its rows or in none, from one moment on, and once; what was in rows that it
 * replaces is gone from that moment on; and what others write and delete is not lost.
 */
public final class JobWrites extends TableWorkload {
  private static final Column VALUE = Column.of("f", "value");
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final String COMMITS = "commits ";
  private static final int ROWS_OF_JOB_MAX = 6;
  private static final String OVERWRITTEN = "overwritten";
  private static final JobOutput.Terms TERMS = new JobOutput.Terms(1_000, Integer.MAX_VALUE);

  private final int rows;
  private final int valueBytes;
  private final TableSchema schema;

  /**
   * The workload.
   *
   * @param table the name of its table
   * @param rows how many rows it has at most
   * @param valueBytes the size of their values, of which each is written once
   */
  public JobWrites(String table, int rows, int valueBytes, Pace pace) {
    super("jobs", "what a job writes is visible all at once, and once", table, pace);
    this.rows = rows;
    this.valueBytes = valueBytes;
    this.schema =
        TableSchema.of(
            table,
            List.of(ColumnFamily.of(VALUE.family()), ColumnFamily.of("g").in("other")),
            UNCACHED,
            LocalityGroup.of("other"));
  }

  @Override
  public void setUp(Stele client) throws IOException {
    RecordedTable.create(client, schema, List.of(numberedRow(rows / 3), numberedRow(rows * 2 / 3)));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    RandomGenerator random = context.random();
    int jobs = 0;
    while (opened.isPresent() && !context.isOver()) {
      RecordedTable table = opened.get();
      Bytes row = numberedRow(random.nextInt(rows));
      int choice = random.nextInt(100);
      if (choice < 8) {
        new OneJob(context, client, "job-" + client + "-" + ++jobs).run();
      } else if (choice < 45) {
        byte[] bytes = new byte[valueBytes];
        random.nextBytes(bytes);
        Bytes value = Bytes.wrap(bytes);
        Mutation put = Mutation.of(row).put(VALUE.family(), VALUE.qualifier(), value);
        Optional<Bytes> seen = choice < 25 ? Optional.empty() : value(table, row);
        if (seen.isPresent()) {
          table.compareAndSet(VALUE, seen, value, put);
        } else {
          table.mutate(new Action.Write(row, value), put);
        }
      } else if (choice < 55) {
        table.mutate(new Action.Delete(row), Mutation.of(row).deleteRow());
      } else if (choice < 90) {
        table.read(row);
      } else {
        table.scan(RowRange.ALL, Long.MAX_VALUE);
      }
      pace.pause(context);
    }
  }

  private static Optional<Bytes> value(RecordedTable table, Bytes row) throws InterruptedException {
    return table
        .readRow(row)
        .flatMap(found -> found.cell(VALUE.family(), VALUE.qualifier()))
        .map(Cell::value);
  }

  /** What one client does for one job. */
  private final class OneJob {
    private final WorkloadContext context;
    private final int client;
    private final String column;
    private final Jobs jobs;
    private final RandomGenerator random;
    private final Set<Bytes> rowsOfJob = new TreeSet<>();
    private final Optional<AttemptOutput.Sorting> sorting; // By tasks.
    private Optional<RowRange> replaced = Optional.empty();

    OneJob(WorkloadContext context, int client, String column) {
      this.context = context;
      this.client = client;
      this.column = column;
      this.jobs = context.client().jobs();
      this.random = context.random();
      this.sorting = someSorting();
    }

    /** With little memory each mutation is a run of its own, with more the task has one. */
    private Optional<AttemptOutput.Sorting> someSorting() {
      return random.nextBoolean()
          ? Optional.empty()
          : Optional.of(new AttemptOutput.Sorting(random.nextBoolean() ? 1 : 1 << 20, () -> {}));
    }

    void run() throws InterruptedException {
      for (int i = 1 + random.nextInt(ROWS_OF_JOB_MAX); i >= 0; i--) {
        rowsOfJob.add(numberedRow(random.nextInt(rows)));
      }
      if (random.nextBoolean()) {
        replaced = Optional.of(someRows(random));
      }
      Optional<String> job = RecordedTable.ofCall(() -> jobs.begin(LEASE));
      if (job.isEmpty()) {
        return;
      }
      Optional<Published> published = RecordedTable.ofCall(() -> write(job.get()));
      int choice = random.nextInt(10);
      if (published.isPresent() && choice < 7) {
        commit(published.get());
      } else if (published.isPresent()) {
        register(published.get());
      }
      boolean ended = choice != 9 && end(job.get()); // Otherwise it is forgotten.
      if (published.isPresent() && choice == 7 && ended) {
        // As an ApplicationMaster does that comes late.
        RecordedTable.ofCall(
            () -> {
              jobs.commit(job.get(), published.get().changes());
              return job.get();
            });
      }
    }

    /** What the tasks of a job have published. */
    private record Published(String job, JobOutput output, Map<TableId, List<RowRange>> replaced) {
      Map<TableId, JobChange> changes() throws IOException {
        return output.changes(replaced);
      }

      void commit() throws IOException {
        output.commit(List.of(), replaced);
      }
    }

    /** Registers files of a job that is not committed then: it never is. */
    private void register(Published published) throws InterruptedException {
      int number = begin();
      try {
        RecordedTable.ofCall(
            () -> {
              jobs.register(published.job(), published.changes());
              return published;
            });
      } finally {
        CallOutcome never = new CallOutcome.Rejected(Code.RETRY_LATER, "it never commits");
        context.history().end(number, never, context.nanoTime(), 0);
      }
    }

    private int begin() {
      String text =
          COMMITS
              + column
              + " "
              + replaced.map(range -> range.start() + ".." + range.end()).orElse("nothing")
              + " "
              + String.join(" ", texts(rowsOfJob));
      return context.history().begin(client, new Action.Other(text), context.nanoTime());
    }

    /** As tasks of a job do: some have several attempts, of which the first to publish counts. */
    private Published write(String job) throws IOException {
      TableId id = jobs.environment().tableId(table);
      JobOutput output = new JobOutput(jobs, job);
      List<Bytes> ofTasks = new ArrayList<>(rowsOfJob);
      if (sorting.isPresent()) {
        Collections.shuffle(ofTasks, new Random(random.nextLong()));
      }
      int half = random.nextInt(ofTasks.size() + 1);
      writeTask(output, id, "task-0", ofTasks.subList(0, half));
      writeTask(output, id, "task-1", ofTasks.subList(half, ofTasks.size()));
      return new Published(
          job, output, replaced.map(range -> Map.of(id, List.of(range))).orElse(Map.of()));
    }

    private void writeTask(JobOutput output, TableId id, String task, List<Bytes> ofTask)
        throws IOException {
      List<String> finished = new ArrayList<>();
      int attempts = random.nextInt(3) == 0 ? 2 : 1;
      for (int i = 0; i < attempts; i++) {
        try (AttemptOutput attempt = attempt(output, task + "-" + i)) {
          attempt.addTable(table, id, schema);
          if (sorting.isPresent()) { // Then rows may come again: the later value counts.
            add(attempt, ofTask, OVERWRITTEN);
          }
          add(attempt, ofTask, column);
          if (i == 0 || random.nextBoolean()) { // Otherwise it is killed.
            attempt.finish();
            finished.add(task + "-" + i);
          }
        }
      }
      Collections.shuffle(finished, new Random(random.nextLong()));
      for (String attempt : finished) {
        output.publish(attempt, task);
        if (random.nextBoolean()) {
          output.discard(attempt); // Those that came too late; what is published stays.
        }
      }
    }

    private AttemptOutput attempt(JobOutput output, String name) {
      return sorting.isPresent()
          ? output.attempt(name, TERMS, sorting.get())
          : output.attempt(name, TERMS);
    }

    private void add(AttemptOutput attempt, List<Bytes> ofTask, String value) throws IOException {
      for (Bytes row : ofTask) {
        attempt.add(table, Mutation.of(row).put("f", column, value).put("g", column, value));
      }
    }

    /** Commits, perhaps again, and finds out what came of it. */
    private void commit(Published published) throws InterruptedException {
      int number = begin();
      long start = context.nanoTime();
      boolean committed = false;
      CallOutcome outcome = new CallOutcome.Unknown("its client ended");
      try {
        for (int i = random.nextInt(4) == 0 ? 2 : 1; i > 0; i--) {
          boolean dies = random.nextInt(3) == 0; // Before it tells tablets of the commit.
          Optional<Published> done =
              RecordedTable.ofCall(
                  () -> {
                    if (dies) {
                      jobs.register(published.job(), published.changes());
                      jobs.commit(published.job(), Map.of());
                    } else {
                      published.commit();
                    }
                    return published;
                  });
          committed |= done.isPresent();
        }
        outcome =
            committed
                ? new CallOutcome.Answered(new Result.Done())
                : outcome(published.job(), start);
      } finally {
        context.history().end(number, outcome, context.nanoTime(), 0);
      }
    }

    /**
     * Ends a job unless it has committed, and says which. The cluster remembers a committed job for
     * one lease.
     *
     * @param start when its commit was first asked for
     */
    private CallOutcome outcome(String job, long start) throws InterruptedException {
      end(job);
      Optional<JobNodes.State> state = RecordedTable.ofCall(() -> jobs.state(job));
      if (state.isPresent() && state.get() == JobNodes.State.COMMITTED) {
        return new CallOutcome.Answered(new Result.Done());
      }
      boolean remembered = context.nanoTime() - start < LEASE.toNanos();
      return remembered && state.isPresent() && state.get() == JobNodes.State.GONE
          ? new CallOutcome.Rejected(Code.RETRY_LATER, "it was ended")
          : new CallOutcome.Unknown("its state is not known");
    }

    /** Returns whether it is known to be over. */
    private boolean end(String job) throws InterruptedException {
      return RecordedTable.ofCall(
              () -> {
                jobs.end(job);
                return job;
              })
          .isPresent();
    }
  }

  /** Some neighbouring rows, or all: in whatever tablets. */
  private RowRange someRows(RandomGenerator random) {
    int first = random.nextInt(rows);
    return random.nextInt(3) == 0
        ? RowRange.ALL
        : new RowRange(numberedRow(first), numberedRow(first + 1 + random.nextInt(rows)));
  }

  private static List<String> texts(Set<Bytes> rows) {
    return rows.stream().map(Bytes::toUtf8).toList();
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(CallChecker.checkReadBack(calls));
    List<JobChecker.Job> jobs = jobs(calls);
    violations.addAll(JobChecker.check(calls, jobs));
    List<Call> ofClients = new ArrayList<>(calls.stream().map(JobWrites::withoutJobs).toList());
    ofClients.addAll(JobChecker.deletes(calls, jobs));
    violations.addAll(
        RowChecker.check(ofClients.stream().flatMap(JobWrites::asWrite).toList(), Set.of(VALUE)));
    violations.addAll(
        RegisterChecker.check(
            ofClients.stream().filter(call -> !(call.action() instanceof Action.Scan)).toList(),
            RegisterChecker.STEPS_MAX));
    return violations;
  }

  /** A compare-and-set as the write that it was, or may have been; others as they are. */
  private static Stream<Call> asWrite(Call call) {
    if (!(call.action() instanceof Action.CompareAndSet set)) {
      return Stream.of(call);
    }
    boolean didNothing =
        call.outcome() instanceof CallOutcome.Answered answer
            && answer.result() instanceof Result.Matched result
            && !result.matched();
    return didNothing
        ? Stream.empty()
        : Stream.of(
            new Call(
                call.number(),
                call.client(),
                new Action.Write(set.row(), set.value()),
                call.start(),
                call.end(),
                call.longestWaitNanos(),
                call.outcome()));
  }

  /** The jobs that were, or may have been, committed. */
  private static List<JobChecker.Job> jobs(List<Call> calls) {
    List<JobChecker.Job> jobs = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Other other && other.text().startsWith(COMMITS)) {
        List<String> words = List.of(other.text().split(" "));
        Set<Bytes> rows = new TreeSet<>();
        words.subList(3, words.size()).forEach(row -> rows.add(Bytes.of(row)));
        if (names.add(words.get(1))) {
          jobs.add(new JobChecker.Job(words.get(1), rows, call, replaced(words.get(2))));
        }
      }
    }
    return jobs;
  }

  private static Optional<RowRange> replaced(String text) {
    int dots = text.indexOf("..");
    return dots < 0
        ? Optional.empty()
        : Optional.of(RowRange.of(text.substring(0, dots), text.substring(dots + 2)));
  }

  /** The call as if its rows had only what clients write themselves. */
  private static Call withoutJobs(Call call) {
    if (!(call.outcome() instanceof CallOutcome.Answered answer
        && answer.result() instanceof Result.Rows seen)) {
      return call;
    }
    List<Row> rows = new ArrayList<>();
    for (Row row : seen.rows()) {
      List<Cell> cells = row.cells().stream().filter(cell -> cell.isOf(VALUE)).toList();
      if (!cells.isEmpty()) {
        rows.add(new Row(row.key(), cells));
      }
    }
    return new Call(
        call.number(),
        call.client(),
        call.action(),
        call.start(),
        call.end(),
        call.longestWaitNanos(),
        new CallOutcome.Answered(new Result.Rows(rows, seen.cutShort())));
  }
}
