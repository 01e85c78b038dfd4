package io.stele.sim.workload;

import io.stele.client.BatchWriter;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.LinkedListChecker;
import io.stele.sim.check.Result;
import io.stele.sim.check.RowChecker;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/**
 * Lists that clients append to, some nodes at a time through a batch writer or one by one: every
 * acknowledged node stays, and refers to one that is there. The nodes of a list are spread over the
 * table.
 */
public final class LinkedLists extends TableWorkload {
  /** Names the node before; empty in the first of a list. */
  public static final Column PREVIOUS = Column.of("f", "previous");

  private static final int LISTS = 4;

  /** Small, so that the writer must wait for room sometimes. */
  private static final long BUFFER_BYTES = 400;

  private final int nodesMax;

  /**
   * The workload.
   *
   * @param table the name of its table
   * @param nodesMax how many nodes each client appends at most
   */
  public LinkedLists(String table, int nodesMax, Pace pace) {
    super("lists", "every acknowledged node stays, and refers to one that is there", table, pace);
    this.nodesMax = nodesMax;
  }

  @Override
  public void setUp(Stele client) throws IOException {
    RecordedTable.create(
        client,
        TableSchema.of(table, PREVIOUS.family()),
        List.of(Bytes.of("4"), Bytes.of("8"), Bytes.of("c")));
  }

  /** The nodes that {@code calls} wrote and that were acknowledged, as they were written. */
  public static List<Mutation> acknowledged(List<Call> calls) {
    return calls.stream()
        .filter(call -> call.isAnswered() && call.action() instanceof Action.Write)
        .map(call -> (Action.Write) call.action())
        .map(write -> node(write.row(), write.value()))
        .toList();
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    if (opened.isPresent()) {
      new Appender(context, client, opened.get()).run();
    }
  }

  /** One client at work. Not thread-safe. */
  private final class Appender {
    private final WorkloadContext context;
    private final int client;
    private final RecordedTable table;
    private final BatchWriter writer;

    /** The last acknowledged node of each list; empty if there is none. */
    private final Bytes[] last = new Bytes[LISTS];

    private int nodes;

    private record Added(int list, Bytes key, int call, Optional<CompletableFuture<Void>> done) {}

    Appender(WorkloadContext context, int client, RecordedTable table) {
      this.context = context;
      this.client = client;
      this.table = table;
      this.writer = table.table().batchWriter(BatchWriter.Options.ofBufferBytes(BUFFER_BYTES));
      Arrays.fill(last, Bytes.EMPTY);
    }

    void run() throws InterruptedException {
      RandomGenerator random = context.random();
      while (!context.isOver()) {
        // The table grows all the time, rather than at once: it splits under any fault.
        int choice = random.nextInt(16);
        int list = random.nextInt(LISTS);
        if (choice >= 4 || nodes >= nodesMax) {
          if (!last[list].isEmpty()) {
            table.read(last[list]);
          }
        } else if (choice < 2) {
          Bytes key = newKey();
          CallOutcome outcome =
              table.mutate(new Action.Write(key, last[list]), node(key, last[list]));
          if (outcome instanceof CallOutcome.Answered) {
            last[list] = key;
          }
        } else {
          appendToAll();
        }
        pace.pause(context);
      }
    }

    /** Appends a node to each list, together. */
    private void appendToAll() throws InterruptedException {
      List<Added> added = new ArrayList<>();
      long longest = 0; // Each call may wait as long as a mutation may take.
      long before = context.nanoTime();
      for (int list = 0; list < LISTS; list++) {
        added.add(add(list));
        long now = context.nanoTime();
        longest = Math.max(longest, now - before);
        before = now;
      }
      Optional<IOException> failed = Optional.empty();
      try {
        writer.flush();
      } catch (SteleException e) {
        // Each future tells of its own mutation.
      } catch (IOException e) {
        failed = Optional.of(e);
      }
      longest = Math.max(longest, context.nanoTime() - before);
      for (Added node : added) {
        if (node.done().isPresent()) {
          CallOutcome outcome = outcome(node.done().get());
          context.history().end(node.call(), outcome, context.nanoTime(), longest);
          if (outcome instanceof CallOutcome.Answered) {
            last[node.list()] = node.key();
          }
        }
      }
      if (failed.isPresent()) {
        RecordedTable.passOnInterrupt(failed.get());
      }
    }

    private Added add(int list) throws InterruptedException {
      Bytes key = newKey();
      Action action = new Action.Write(key, last[list]);
      int call = context.history().begin(client, action, context.nanoTime());
      try {
        CompletableFuture<Void> done = writer.add(node(key, last[list]));
        return new Added(list, key, call, Optional.of(done));
      } catch (SteleException e) {
        context.history().end(call, RecordedTable.outcome(e), context.nanoTime());
      } catch (IOException e) {
        context.history().end(call, RecordedTable.outcome(e), context.nanoTime());
        RecordedTable.passOnInterrupt(e);
      }
      return new Added(list, key, call, Optional.empty());
    }

    private Bytes newKey() {
      String spread = HexFormat.of().toHexDigits(context.random().nextLong());
      return Bytes.of(spread + "-" + client + "-" + nodes++);
    }
  }

  private static CallOutcome outcome(CompletableFuture<Void> done) {
    return done.handle(
            (nothing, failure) ->
                failure == null
                    ? new CallOutcome.Answered(new Result.Done())
                    : RecordedTable.outcome(failure))
        .getNow(new CallOutcome.Unknown("it has not ended though the writer was flushed"));
  }

  private static Mutation node(Bytes key, Bytes previous) {
    return Mutation.of(key).put(PREVIOUS.family(), PREVIOUS.qualifier(), previous);
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(LinkedListChecker.check(calls));
    violations.addAll(RowChecker.check(calls, Set.of(PREVIOUS)));
    violations.addAll(CallChecker.checkReadBack(calls));
    return violations;
  }
}
