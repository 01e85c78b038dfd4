package io.stele.sim.workload;

import io.stele.client.Jobs;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.direct.DirectRows;
import io.stele.metadata.JobNodes;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.Result;
import io.stele.sim.check.RowChecker;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * A table whose rows come and go, and which jobs pin and then read several times: every read of a
 * job sees the same, and that is what was there while it was being pinned.
 */
public final class PinnedScans extends TableWorkload {
  private static final Column VALUE = Column.of("f", "value");
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final String PINS = "pins ";
  private static final int READS = 3;
  private static final int PAUSE_MAX_MILLIS = 4000;
  private static final int READ_PAUSE_MAX_MILLIS = 1000;
  private static final Duration LOOK_AGAIN_AFTER = Duration.ofSeconds(1);

  /** How a table is read at a pin. */
  public enum How {
    /** By its tablet servers. */
    SERVED,
    /** By the client itself, from its files. */
    DIRECT,
    /** Each by chance. */
    BOTH
  }

  private final int rows;
  private final int valueBytes;
  private final How how;

  /**
   * The workload.
   *
   * @param table the name of its table
   * @param rows how many rows it has at most
   * @param valueBytes the size of their values, of which each is written once
   */
  public PinnedScans(String table, int rows, int valueBytes, How how, Pace pace) {
    super("pins", "every read of a job sees what was there when it pinned", table, pace);
    this.rows = rows;
    this.valueBytes = valueBytes;
    this.how = how;
  }

  @Override
  public void setUp(Stele client) throws IOException {
    RecordedTable.create(
        client,
        TableSchema.of(table, VALUE.family()),
        List.of(numberedRow(rows / 3), numberedRow(rows * 2 / 3)));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    RandomGenerator random = context.random();
    while (opened.isPresent() && !context.isOver()) {
      RecordedTable table = opened.get();
      Bytes row = numberedRow(random.nextInt(rows));
      int choice = random.nextInt(100);
      if (choice < 4) {
        new PinnedReads(context, client, table.table(), how).run();
      } else if (choice < 70) {
        byte[] value = new byte[valueBytes];
        random.nextBytes(value);
        table.mutate(
            new Action.Write(row, Bytes.wrap(value)),
            Mutation.of(row).put(VALUE.family(), VALUE.qualifier(), Bytes.wrap(value)));
      } else if (choice < 95) {
        table.mutate(new Action.Delete(row), Mutation.of(row).deleteRow());
      } else {
        table.scan(RowRange.ALL, Long.MAX_VALUE);
      }
      pace.pause(context);
    }
  }

  /** What one client does for one job. */
  private static final class PinnedReads {
    private final WorkloadContext context;
    private final int client;
    private final Table table;
    private final How how;
    private final Jobs jobs;

    PinnedReads(WorkloadContext context, int client, Table table, How how) {
      this.how = how;
      this.context = context;
      this.client = client;
      this.table = table;
      this.jobs = context.client().jobs();
    }

    void run() throws InterruptedException {
      Optional<String> job = RecordedTable.ofCall(() -> jobs.begin(LEASE));
      if (job.isPresent()) {
        if (pin(job.get())) {
          for (int i = 0; i < READS && !context.isOver(); i++) {
            read(job.get());
            context.pause(Duration.ofMillis(context.random().nextInt(PAUSE_MAX_MILLIS)));
            RecordedTable.ofCall(() -> renewed(job.get()));
          }
        }
        begin(new Action.Other("ends " + job.get())).answered(new Result.Done());
        RecordedTable.ofCall(
            () -> {
              jobs.end(job.get());
              return job.get();
            });
      }
    }

    private boolean pin(String job) throws InterruptedException {
      Begun begun = begin(new Action.Other(PINS + job));
      boolean pinned =
          RecordedTable.ofCall(
                  () -> {
                    jobs.pin(job, table.name(), RowRange.ALL);
                    return job;
                  })
              .isPresent();
      begun.ended(
          pinned
              ? new CallOutcome.Answered(new Result.Done())
              : new CallOutcome.Rejected(Code.RETRY_LATER, "not pinned"));
      return pinned;
    }

    private String renewed(String job) throws IOException {
      jobs.renew(job);
      return job;
    }

    private void read(String job) throws InterruptedException {
      Begun begun = begin(new Action.Scan(RowRange.ALL, Long.MAX_VALUE));
      CallOutcome outcome = new CallOutcome.Rejected(Code.RETRY_LATER, "not read to the end");
      try {
        outcome = new CallOutcome.Answered(Result.Rows.all(rows(table.atPin(job))));
      } catch (SteleException e) {
        if (e.code() != Code.REFUSED || !isOver(job)) {
          outcome = RecordedTable.outcome(e);
        }
      } catch (IOException e) {
        RecordedTable.passOnInterrupt(e);
      } finally {
        begun.ended(outcome);
      }
    }

    private List<Row> rows(Table pinned) throws IOException, InterruptedException {
      boolean direct =
          switch (how) {
            case SERVED -> false;
            case DIRECT -> true;
            case BOTH -> context.random().nextBoolean();
          };
      RandomGenerator random = context.random();
      List<Row> read = new ArrayList<>();
      if (direct) {
        try (DirectRows rows = DirectRows.of(pinned, RowQuery.ALL, 1 << random.nextInt(20))) {
          for (Optional<Row> row = rows.read(); row.isPresent(); row = rows.read()) {
            read.add(row.get());
            pauseSometimes(); // So that files go meanwhile.
          }
        }
      } else {
        try (Rows rows = pinned.withoutCaching().readRows(RowQuery.ALL)) {
          for (Optional<Row> row = rows.read(); row.isPresent(); row = rows.read()) {
            read.add(row.get());
            pauseSometimes();
          }
        }
      }
      return read;
    }

    private void pauseSometimes() throws InterruptedException {
      if (context.random().nextInt(20) == 0) {
        context.pause(Duration.ofMillis(context.random().nextInt(READ_PAUSE_MAX_MILLIS)));
      }
    }

    /** Nobody could renew it in time: once it is over it stays so. */
    private boolean isOver(String job) throws InterruptedException {
      Optional<JobNodes.State> state = RecordedTable.ofCall(() -> jobs.state(job));
      while (state.isEmpty() && !context.isOver()) {
        context.pause(LOOK_AGAIN_AFTER); // Until there is an answer.
        state = RecordedTable.ofCall(() -> jobs.state(job));
      }
      return state.isEmpty() || state.get() == JobNodes.State.GONE;
    }

    private Begun begin(Action action) {
      return new Begun(context, context.history().begin(client, action, context.nanoTime()));
    }
  }

  /** A call that takes several of the client library's timeouts. */
  private record Begun(WorkloadContext context, int number) {
    void answered(Result result) {
      ended(new CallOutcome.Answered(result));
    }

    void ended(CallOutcome outcome) {
      context.history().end(number, outcome, context.nanoTime(), 0);
    }
  }

  /** Reads at a pin are judged as if they had been made while the table was being pinned. */
  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(CallChecker.checkReadBack(calls));
    Map<Integer, Call> pinning = new HashMap<>(); // By client.
    Map<Integer, Call> first = new HashMap<>(); // The first read at the pin, by client.
    List<Call> judged = new ArrayList<>();
    for (Call call : calls) {
      Integer client = call.client();
      if (call.action() instanceof Action.Other other) {
        pinning.remove(client);
        first.remove(client);
        if (other.text().startsWith(PINS) && call.isAnswered()) {
          pinning.put(client, call);
        }
      }
      Call pin = pinning.get(client);
      if (pin == null || !(call.action() instanceof Action.Scan)) {
        judged.add(call);
        continue;
      }
      judged.add(
          new Call(
              call.number(), client, call.action(), pin.start(), pin.end(), 0, call.outcome()));
      if (call.isAnswered()) {
        Call before = first.putIfAbsent(client, call);
        if (before != null && !before.outcome().equals(call.outcome())) {
          violations.add(
              new Violation("pins", before + " and " + call + " differ, at one pin of " + pin));
        }
      }
    }
    violations.addAll(RowChecker.check(judged, Set.of(VALUE)));
    return violations;
  }
}
