package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.sim.check.Call;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.List;

/**
 * Something clients do to a table of their own, and what must hold of the answers.
 *
 * <p>A run is: {@link #setUp}, {@link #run} by each client, each on a task of its own, then, when
 * all have returned and the cluster is whole again, {@link #readBack}, then {@link #check}. A
 * workload keeps no state of a run, so one object serves any number of runs.
 */
public interface Workload {
  /** The name of the workload. */
  String name();

  /** The name of its table. */
  String table();

  /** What it checks, in a few words for people. */
  String claim();

  /**
   * Creates the table. Trying again after a failure does no harm.
   *
   * @throws IOException as the client does
   */
  void setUp(Stele client) throws IOException;

  /**
   * What one client does until {@link WorkloadContext#isOver}. Failures that Stele may answer with
   * are recorded; anything else is thrown.
   *
   * @param client the client's number, from 0 on. A client that is started again after a crash gets
   *     a number that was not used before: what it writes is named after it
   */
  void run(WorkloadContext context, int client) throws InterruptedException;

  /**
   * Reads what there is at the end, trying again where that fails for a while. It pays no heed to
   * {@link WorkloadContext#isOver}.
   */
  void readBack(WorkloadContext context) throws InterruptedException;

  /** What is wrong with a run that made these calls. */
  List<Violation> check(List<Call> calls);
}
