package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobDirectoryTest {
  @Test
  void noMoreLinesAreReadThanAreNamed(@TempDir Path directory) throws Exception {
    Job job = Job.getInstance(new Configuration(false));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(directory.toUri()));
    Files.writeString(directory.resolve("part-r-00001"), "c\nd\n");
    Files.writeString(directory.resolve("part-r-00000"), "a\nb\na\n");
    assertThat(JobDirectory.lines(job)).isEqualTo(List.of("a", "b", "a", "c", "d"));
    assertThat(JobDirectory.firstLines(job, 3)).isEqualTo(List.of("a", "b", "c"));
    assertThat(JobDirectory.firstLines(job, 9)).isEqualTo(List.of("a", "b", "c", "d"));
  }

  @Test
  void ofManyNodesTheFirstAreNamed() {
    VerifyLists.Nodes nodes = new VerifyLists.Nodes(2);
    nodes.add("c");
    assertThat(nodes).hasToString("c");
    nodes.add("a");
    assertThat(nodes).hasToString("a, c");
    nodes.add("b");
    nodes.add("d");
    assertThat(nodes).hasToString("a, b and 2 more");
    assertThat(nodes.count()).isEqualTo(4);
  }
}
