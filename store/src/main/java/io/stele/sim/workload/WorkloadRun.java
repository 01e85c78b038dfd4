package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.InterruptibleRunnable;
import io.stele.runtime.ProcessEnded;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.History;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator.SplittableGenerator;

/**
 * Clients at work on the tables of workloads, and what came of it. A run is: {@link #setUp}, {@link
 * #start} for each client, {@link #stop}, {@link #readBack} when the cluster is whole, {@link
 * #results}.
 *
 * <p>For one task, which waits through the runtime it gives; the clients run on tasks of their own.
 */
public final class WorkloadRun {
  private static final Duration TRY_AGAIN = Duration.ofSeconds(1);

  /** No batch of a workload waits for more calls of the client library than this. */
  private static final int CALLS_IN_A_ROW_MAX = 6;

  private final ProcessRuntime clock;
  private final SplittableGenerator random;
  private final Duration timeout;
  private final Map<Workload, History> histories = new LinkedHashMap<>();
  private final List<Task> clients = new ArrayList<>();

  // Each list guards itself.
  private final Map<Workload, List<Violation>> failures = new LinkedHashMap<>();
  private long begunNanos;
  private long stoppedNanos;
  private volatile Function<ProcessRuntime, RootFiles> mount =
      process -> {
        throw new UnsupportedOperationException("clients do not write files here");
      };
  private volatile boolean over;

  /**
   * What came of a workload.
   *
   * @param workload the workload
   * @param service how well its clients were served
   * @param violations what is wrong
   */
  public record Result(Workload workload, Service service, List<Violation> violations) {
    public Result {
      violations = List.copyOf(violations);
    }
  }

  /**
   * How clients were served in some time.
   *
   * @param gap the longest time in which the clients of some workload got no answer
   * @param p99 the time in which 99 of 100 answered calls returned that were under way
   */
  public record Served(Service.Gap gap, Duration p99) {}

  /**
   * A run of {@code workloads}.
   *
   * @param clock whose monotonic clock is that of the histories
   * @param random all that is random in what the clients do
   * @param timeout how long a call may take by the configuration of the clients
   */
  public WorkloadRun(
      List<Workload> workloads,
      ProcessRuntime clock,
      SplittableGenerator random,
      Duration timeout) {
    this.clock = clock;
    this.random = random;
    this.timeout = timeout;
    for (Workload workload : workloads) {
      histories.put(workload, new History());
      failures.put(workload, new ArrayList<>());
    }
  }

  /**
   * Makes the table of {@code workload}, trying again for a while where that fails.
   *
   * @param triesMax how long
   * @throws IOException the last failure
   */
  public void setUp(Workload workload, Stele client, Duration triesMax)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.after(clock, triesMax);
    while (true) {
      try {
        workload.setUp(client);
        return;
      } catch (SteleException | IOException e) {
        boolean mayPass =
            !(e instanceof SteleException known)
                || known.code() == SteleException.Code.RETRY_LATER
                || known.code() == SteleException.Code.OUTCOME_UNKNOWN;
        if (!mayPass || deadline.isOver()) {
          throw e;
        }
      }
      clock.sleep(TRY_AGAIN);
    }
  }

  /** Lets clients write files of the cluster; before they are started. */
  public void mountBy(Function<ProcessRuntime, RootFiles> files) {
    mount = files;
  }

  /**
   * Starts a client of each workload.
   *
   * @param process where they run
   * @param client the connection that they share
   * @param number of the client, from 0 on
   * @param delay before it begins
   */
  public void start(ProcessRuntime process, Stele client, int number, Duration delay) {
    if (clients.isEmpty()) {
      begunNanos = clock.nanoTime();
    }
    histories.forEach(
        (workload, history) -> {
          WorkloadContext context = context(process, client, history);
          clients.add(
              process.start(
                  workload.name() + "-" + number,
                  () ->
                      quietly(
                          workload,
                          () -> {
                            process.sleep(delay);
                            workload.run(context, number);
                          })));
        });
  }

  private WorkloadContext context(ProcessRuntime process, Stele client, History history) {
    return new ClientContext(client, process, clock, history, random.split(), () -> over, mount);
  }

  /** Stops the clients from making further calls, and waits until those under way have returned. */
  public void stop() throws InterruptedException {
    stoppedNanos = clock.nanoTime();
    over = true;
    Deadline deadline = Deadline.after(clock, timeout.multipliedBy(CALLS_IN_A_ROW_MAX));
    for (Task client : clients) {
      // A call that has not returned by then is found by its deadline.
      clock.await(client.ended(), deadline.remaining());
    }
  }

  /** Reads what there is at the end. */
  public void readBack(ProcessRuntime process, Stele client) {
    histories.forEach(
        (workload, history) ->
            quietly(workload, () -> workload.readBack(context(process, client, history))));
  }

  /**
   * How clients were served in some time; after {@link #stop}. A time without answers that goes on
   * afterwards is seen to its end.
   *
   * @param fromNanos the time in question, by the clock of the histories
   * @param cutNanos what happens from then on has another cause
   */
  public Served served(long fromNanos, long toNanos, long cutNanos) {
    long cut = Math.min(cutNanos, stoppedNanos);
    Service.Gap gap = new Service.Gap(Duration.ZERO, false);
    List<Call> answered = new ArrayList<>();
    for (History history : histories.values()) {
      List<Call> calls = history.calls();
      gap = Service.longer(gap, Service.longestGap(calls, fromNanos, toNanos, cut));
      answered.addAll(Service.answered(calls, fromNanos, toNanos));
    }
    return new Served(gap, Service.p99(answered));
  }

  /** All calls that were made for {@code workload}. */
  public List<Call> calls(Workload workload) {
    return Objects.requireNonNull(histories.get(workload), "not of this run").calls();
  }

  /**
   * The calls of clients that began and failed in some time, or were cut short.
   *
   * @param fromNanos the time in question, by the clock of the histories
   */
  public List<Call> failed(long fromNanos, long toNanos) {
    return histories.values().stream()
        .flatMap(history -> Service.failed(history.calls(), fromNanos, toNanos).stream())
        .toList();
  }

  /** What came of each workload. */
  public List<Result> results() {
    List<Result> results = new ArrayList<>();
    histories.forEach(
        (workload, history) -> {
          List<Call> calls = history.calls();
          List<Violation> violations = new ArrayList<>(workload.check(calls));
          violations.addAll(
              CallChecker.checkDeadlines(
                  calls, timeout, CallChecker.DEADLINE_GRACE, clock.nanoTime()));
          violations.addAll(
              CallChecker.checkFailures(calls, Set.of(SteleException.Code.RETRY_LATER)));
          List<Violation> ofClients = failures(workload);
          synchronized (ofClients) {
            violations.addAll(ofClients);
          }
          Service service = Service.of(calls, begunNanos, stoppedNanos);
          results.add(new Result(workload, service, violations));
        });
    return results;
  }

  private List<Violation> failures(Workload workload) {
    return Objects.requireNonNull(failures.get(workload)); // The constructor made one for each.
  }

  private void quietly(Workload workload, InterruptibleRunnable work) {
    try {
      work.run();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts clients", e);
    } catch (ProcessEnded e) {
      throw e; // The client was killed, as clients are that write files.
    } catch (RuntimeException | Error e) {
      List<Violation> ofClients = failures(workload);
      synchronized (ofClients) {
        ofClients.add(new Violation("client", "ended by " + e));
      }
      throw e; // For whoever looks after the tasks of the process.
    }
  }
}
