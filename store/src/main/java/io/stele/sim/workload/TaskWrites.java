package io.stele.sim.workload;

import io.stele.client.BatchWriter;
import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.History;
import io.stele.sim.check.Result;
import io.stele.sim.check.TaskChecker;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * A table that tasks of jobs write to, as {@code TableOutputFormat} does: of each task several
 * attempts write the same records, one after the other or side by side, and some are given up
 * halfway, with requests under way. Each record counts once.
 */
public final class TaskWrites extends TableWorkload {
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final String WRITES = "writes ";
  private static final int RECORDS_MAX = 80;
  private static final int VERSIONS = 1000;
  private static final int BUFFER_BYTES = 64 << 10;
  private static final int ENDS_MAX = 4;

  private final int rows;

  /** With so many rows in a table of that name. */
  public TaskWrites(String table, int rows, Pace pace) {
    super("tasks", "each record of a task counts once, whoever wrote it", table, pace);
    this.rows = rows;
  }

  @Override
  public void setUp(Stele client) throws IOException {
    TableSchema schema =
        TableSchema.of(
            table,
            List.of(
                new ColumnFamily(TaskChecker.PUTS, GcPolicy.maxVersions(VERSIONS)),
                ColumnFamily.of(TaskChecker.APPENDS)));
    RecordedTable.create(client, schema, List.of(numberedRow(rows / 3), numberedRow(rows * 2 / 3)));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    for (int i = 1; opened.isPresent() && !context.isOver(); i++) {
      new OneTask(context, client, opened.get(), "task-" + client + "-" + i).run();
      pace.pause(context);
    }
  }

  /** What one client does for one task, which is a job of its own. */
  private final class OneTask {
    private final WorkloadContext context;
    private final int client;
    private final RecordedTable table;
    private final String name;
    private final Jobs jobs;
    private final RandomGenerator random;
    private final List<TaskChecker.Written> records = new ArrayList<>();
    private final OperationId first;
    private final List<BatchWriter> broken = new ArrayList<>();

    OneTask(WorkloadContext context, int client, RecordedTable table, String name) {
      this.context = context;
      this.client = client;
      this.table = table;
      this.name = name;
      this.jobs = context.client().jobs();
      this.random = context.random();
      this.first = OperationId.first(random);
      for (int number = 1 + random.nextInt(RECORDS_MAX); number > 0; number--) {
        records.add(
            new TaskChecker.Written(
                numberedRow(random.nextInt(rows)), records.size() + 1L, random.nextInt(3) > 0));
      }
    }

    void run() throws InterruptedException {
      Optional<String> job = begin();
      if (job.isEmpty()) {
        return;
      }
      int call =
          context
              .history()
              .begin(client, new Action.Other(WRITES + text(name, records)), context.nanoTime());
      CallOutcome outcome = new CallOutcome.Unknown("no attempt ended well");
      try {
        BatchWriter earlier = writer(job.get());
        int given = random.nextInt(records.size() + 1);
        write(List.of(earlier), 0, given);
        for (int i = 0; i < ENDS_MAX && outcome instanceof CallOutcome.Unknown; i++) {
          // Beside an earlier one only once: that goes on where it was.
          boolean beside = i == 0 && random.nextBoolean();
          if (attempt(job.get(), beside ? List.of(earlier) : List.of(), given)) {
            outcome = new CallOutcome.Answered(new Result.Done());
          }
        }
      } finally {
        context.history().end(call, outcome, context.nanoTime(), 0);
      }
      end(job.get());
    }

    /** Another attempt, from the first record to the last; whether it ended well. */
    private boolean attempt(String job, List<BatchWriter> earlier, int given)
        throws InterruptedException {
      BatchWriter writer = writer(job);
      int both = given + random.nextInt(records.size() - given + 1);
      try {
        write(List.of(writer), 0, given);
        List<BatchWriter> sideBySide = new ArrayList<>(earlier);
        sideBySide.add(writer);
        write(sideBySide, given, both);
        write(List.of(writer), both, records.size());
        writer.close();
        return !broken.contains(writer);
      } catch (SteleException e) {
        return false;
      } catch (IOException e) {
        RecordedTable.passOnInterrupt(e);
        return false;
      }
    }

    private BatchWriter writer(String job) {
      return table
          .table()
          .batchWriter(
              BatchWriter.Options.ofBufferBytes(BUFFER_BYTES)
                  .withFirstOperation(first)
                  .forJob(job));
    }

    private void write(List<BatchWriter> writers, int from, int to) throws InterruptedException {
      for (TaskChecker.Written record : records.subList(from, to)) {
        for (BatchWriter writer : writers) {
          if (broken.contains(writer)) {
            continue; // What follows would have the number of a record that it has not taken.
          }
          try {
            writer.add(operation(record));
          } catch (SteleException e) {
            broken.add(writer);
          } catch (IOException e) {
            RecordedTable.passOnInterrupt(e);
            broken.add(writer);
          }
        }
        if (random.nextInt(8) == 0) {
          context.pause(Duration.ofMillis(random.nextInt(200)));
        }
      }
    }

    private RowOperation operation(TaskChecker.Written record) {
      Bytes column = Bytes.of(name);
      return record.put()
          ? Mutation.of(record.row()).put(TaskChecker.PUTS, column, Bytes.of("" + record.number()))
          : ReadModifyWrite.append(
              record.row(), TaskChecker.APPENDS, column, Bytes.of(record.number() + ","));
    }

    private Optional<String> begin() throws InterruptedException {
      try {
        return Optional.of(jobs.begin(LEASE));
      } catch (SteleException e) {
        return Optional.empty();
      } catch (IOException e) {
        RecordedTable.passOnInterrupt(e);
        return Optional.empty();
      }
    }

    private void end(String job) throws InterruptedException {
      try {
        switch (random.nextInt(4)) {
          case 0 -> {} // It is forgotten.
          case 1 -> jobs.finish(job);
          default -> jobs.end(job);
        }
      } catch (SteleException e) {
        if (e.code() == Code.REFUSED) {
          throw e;
        } // Otherwise it ends by itself.
      } catch (IOException e) {
        RecordedTable.passOnInterrupt(e);
      }
    }
  }

  private static String text(String name, List<TaskChecker.Written> records) {
    StringBuilder text = new StringBuilder(name);
    records.forEach(
        one -> text.append(' ').append(one.row().toUtf8()).append(one.put() ? "/p" : "/a"));
    return text.toString();
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(CallChecker.checkReadBack(calls));
    List<TaskChecker.Task> tasks = new ArrayList<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Other other && other.text().startsWith(WRITES)) {
        tasks.add(task(other.text(), call.isAnswered()));
      }
    }
    for (List<Row> rows : History.wholeScansReadBack(calls)) {
      violations.addAll(TaskChecker.check(rows, tasks));
    }
    return violations;
  }

  private static TaskChecker.Task task(String text, boolean done) {
    List<String> words = List.of(text.split(" "));
    List<TaskChecker.Written> records = new ArrayList<>();
    for (String word : words.subList(2, words.size())) {
      int slash = word.indexOf('/');
      records.add(
          new TaskChecker.Written(
              Bytes.of(word.substring(0, slash)), records.size() + 1L, word.endsWith("/p")));
    }
    return new TaskChecker.Task(words.get(1), records, done);
  }
}
