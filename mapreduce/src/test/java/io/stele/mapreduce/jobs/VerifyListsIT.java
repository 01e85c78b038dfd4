package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Table;
import io.stele.mapreduce.HdfsCluster;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lists that are whole, and lists that are not. */
class VerifyListsIT {
  private static final Column PREVIOUS = Column.of("f", "previous");

  @TempDir private static Path scratch;
  private static HdfsCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster = new HdfsCluster(scratch.toFile());
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  private static Table create(String name) throws IOException {
    cluster.stele().client().admin().createTable(TableSchema.of(name, "f"), List.of(Bytes.of("m")));
    return cluster.stele().client().table(name);
  }

  private static void node(Table table, String key, String before) throws IOException {
    table.mutate(Mutation.of(key).put("f", "previous", before));
  }

  private static TableJob.Report verify(String table) throws Exception {
    TableJob verify = new VerifyLists(table, table + "-acknowledged", PREVIOUS);
    Job job = verify.prepare(new Configuration(cluster.conf()));
    try {
      assertThat(job.waitForCompletion(true)).isTrue();
      return verify.report(job);
    } finally {
      verify.cleanUp(job);
    }
  }

  @Test
  void wholeListsAreGood() throws Exception {
    Table nodes = create("whole");
    Table acknowledged = create("whole-acknowledged");
    for (int i = 0; i < 40; i++) {
      String key = i % 2 + "x" + i;
      String before = i < 2 ? "" : i % 2 + "x" + (i - 2);
      node(nodes, key, before);
      if (i != 17) {
        node(acknowledged, key, before);
      }
    }
    node(nodes, "z", "1x15"); // Nobody knows whether 1x17 was written: it was written anew.
    TableJob.Report report = verify("whole");
    assertThat(report.lines())
        .containsExactly("41 nodes of lists are there, 39 were acknowledged: 0 findings");
    assertThat(report.verdict()).isEqualTo(TableJob.Verdict.GOOD);
  }

  @Test
  void whatIsWrongIsNamed() throws Exception {
    Table nodes = create("torn");
    Table acknowledged = create("torn-acknowledged");
    node(nodes, "a", "");
    node(nodes, "b", "a");
    node(acknowledged, "b", "a");
    node(acknowledged, "x", "a"); // It is not there, and refers to what b refers to.
    node(nodes, "c", "lost");
    node(nodes, "d", "other");
    node(nodes, "other", "");
    node(acknowledged, "d", "b");
    TableJob.Report report = verify("torn");
    assertThat(report.verdict()).isEqualTo(TableJob.Verdict.DAMAGED);
    assertThat(report.lines())
        .containsExactlyInAnyOrder(
            "5 nodes of lists are there, 3 were acknowledged: 4 findings",
            "node a is before several acknowledged ones: b, x",
            "node d refers to \"other\" in place of \"b\"",
            "node lost is not there, and is referred to by c",
            "acknowledged node x is not there");
  }
}
