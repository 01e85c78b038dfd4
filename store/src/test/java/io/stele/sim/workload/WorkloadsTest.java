package io.stele.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.SteleException.Code;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.History;
import io.stele.sim.check.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The workloads against a whole cluster in this JVM. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT) // Their clients mostly pause.
class WorkloadsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** A client that makes so many pauses and is over then. */
  private static final class Client implements WorkloadContext {
    private final Stele stele;
    private final History history;
    private final RandomGenerator random;
    private final AtomicInteger pausesLeft;

    Client(Stele stele, History history, long seed, int pauses) {
      this.stele = stele;
      this.history = history;
      this.random = new Random(seed);
      this.pausesLeft = new AtomicInteger(pauses);
    }

    @Override
    public Stele client() {
      return stele;
    }

    @Override
    public RootFiles files() {
      throw new UnsupportedOperationException();
    }

    @Override
    public RandomGenerator random() {
      return random;
    }

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public void pause(Duration duration) throws InterruptedException {
      pausesLeft.decrementAndGet();
      TimeUnit.NANOSECONDS.sleep(duration.toNanos());
    }

    @Override
    public boolean isOver() {
      return pausesLeft.get() <= 0;
    }

    @Override
    public History history() {
      return history;
    }
  }

  /** Runs all of them at once, each with four clients, and gives their histories in order. */
  private static List<History> run(List<Workload> workloads, MiniStele cluster, boolean kill)
      throws Exception {
    List<History> histories = new ArrayList<>();
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<Future<?>> clients = new ArrayList<>();
      for (Workload workload : workloads) {
        History history = new History();
        histories.add(history);
        workload.setUp(cluster.client());
        workload.setUp(cluster.client());
        for (int client = 0; client < 4; client++) {
          int number = client;
          Callable<Void> work =
              () -> {
                workload.run(new Client(cluster.client(), history, number, 60), number);
                return null;
              };
          clients.add(threads.submit(work));
        }
      }
      if (kill) {
        cluster.startServer();
        cluster.killServer(cluster.servers().get(0));
      }
      for (Future<?> client : clients) {
        client.get();
      }
      for (int i = 0; i < workloads.size(); i++) {
        workloads.get(i).readBack(new Client(cluster.client(), histories.get(i), 9, 0));
      }
    } finally {
      threads.shutdownNow();
    }
    return histories;
  }

  @Test
  void aHealthyClusterPassesAllWorkloads() throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    List<Workload> workloads = Workloads.all(new Pace(Duration.ofMillis(2)));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 2, 1)) {
      List<History> histories = run(workloads, cluster, false);
      long now = System.nanoTime();
      for (int i = 0; i < workloads.size(); i++) {
        List<Call> calls = histories.get(i).calls();
        assertThat(calls.size()).as(workloads.get(i).name()).isGreaterThan(4 * 20);
        assertThat(calls).allMatch(Call::isAnswered);
        assertThat(workloads.get(i).check(calls)).isEmpty();
        assertThat(CallChecker.checkFailures(calls, Set.of())).isEmpty();
        assertThat(CallChecker.checkDeadlines(calls, TIMEOUT, GRACE, now)).isEmpty();
      }
    }
  }

  @Test
  void aClusterThatLosesAServerPassesAllWorkloads() throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    List<Workload> workloads = Workloads.all(new Pace(Duration.ofMillis(20)));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 2, 2)) {
      List<History> histories = run(workloads, cluster, true);
      for (int i = 0; i < workloads.size(); i++) {
        List<Call> calls = histories.get(i).calls();
        assertThat(workloads.get(i).check(calls)).isEmpty();
        assertThat(CallChecker.checkFailures(calls, Set.of(Code.RETRY_LATER))).isEmpty();
      }
    }
  }

  @Test
  void whatSomebodyElseDoesToTheTableIsFound() throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    List<Workload> workloads = Workloads.all(new Pace(Duration.ZERO));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 3)) {
      List<History> histories = run(workloads, cluster, false);
      for (int i = 0; i < workloads.size(); i++) {
        Workload workload = workloads.get(i);
        History history = histories.get(i);
        Bytes row = rowThere(history.calls());
        cluster.client().table(workload.name()).mutate(Mutation.of(row).deleteRow());
        workload.readBack(new Client(cluster.client(), history, 9, 0));
        assertThat(workload.check(history.calls())).as(workload.name()).isNotEmpty();
      }
    }
  }

  /** A row that was there when the table was read back. */
  private static Bytes rowThere(List<Call> calls) {
    for (Call call : calls) {
      if (call.client() == History.READ_BACK
          && call.outcome() instanceof CallOutcome.Answered answer) {
        if (answer.result() instanceof Result.Rows rows && !rows.rows().isEmpty()) {
          return rows.rows().get(0).key();
        } else if (call.action() instanceof Action.ReadCounter read
            && !answer.result().equals(new Result.Number(0))) {
          return read.row();
        }
      }
    }
    throw new AssertionError("nothing was there");
  }
}
