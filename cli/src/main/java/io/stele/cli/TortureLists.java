package io.stele.cli;

import io.stele.client.BatchWriter;
import io.stele.client.Stele;
import io.stele.mapreduce.jobs.VerifyLists;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.sim.check.Call;
import io.stele.sim.workload.LinkedLists;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/** Verifies the linked lists of a torture by a MapReduce job. For one thread. */
final class TortureLists {
  /** What the workload is called. */
  static final String WORKLOAD = "lists";

  private final Configuration conf;
  private final String table;
  private final PrintWriter out;

  /**
   * The lists in {@code table}.
   *
   * @param conf of the cluster, and of a Hadoop that runs jobs
   */
  TortureLists(Configuration conf, String table, PrintWriter out) {
    this.conf = conf;
    this.table = table;
    this.out = out;
  }

  /** The table in which the job finds what was acknowledged; {@link #areWhole} makes it. */
  static String acknowledgedOf(String table) {
    return table + "-acknowledged";
  }

  /**
   * Runs the job, and prints what it found.
   *
   * @param calls of the workload
   * @return whether nothing is wrong
   */
  boolean areWhole(List<Call> calls, Stele stele) throws IOException {
    String acknowledged = acknowledgedOf(table);
    stele.admin().createTable(TableSchema.of(acknowledged, LinkedLists.PREVIOUS.family()));
    try (BatchWriter writer = stele.table(acknowledged).batchWriter()) {
      for (Mutation node : LinkedLists.acknowledged(calls)) {
        writer.add(node);
      }
    }
    VerifyLists job = new VerifyLists(table, acknowledged, LinkedLists.PREVIOUS);
    return new JobRun(out, out).run(job, conf) == ExitCode.DONE.number();
  }
}
