package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.yarn.ApplicationStatus;
import io.stele.yarn.ComponentStatus;
import io.stele.yarn.StartOptions;
import io.stele.yarn.YarnSubmitter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** What our processes take of their containers, on a YARN that ends those which take too much. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(600)
class MemoryOfContainersIT {
  /** {@code yarn.nodemanager.vmem-pmem-ratio}, by default. */
  private static final double VIRTUAL_RATIO = 2.1;

  private EmbeddedHadoop hadoop;

  @BeforeAll
  void start() throws IOException {
    hadoop =
        EmbeddedHadoop.start(
            EmbeddedHadoop.Options.in(Path.of("target", "embedded", "container-memory")));
  }

  @AfterAll
  void stop() throws IOException {
    if (hadoop != null) {
      hadoop.close();
    }
  }

  private StartOptions options() throws IOException {
    return StartOptions.ofLibDirectory(Path.of(System.getProperty("stele.home"), "lib"));
  }

  @Test
  void atTheDefaultSizesAllProcessesFitTheirContainers() throws Exception {
    Configuration conf = hadoop.configuration();
    try (YarnSubmitter yarn = YarnSubmitter.connect(conf)) {
      yarn.start(options(), line -> {});
      try (Stele stele = Stele.connect(conf)) {
        stele.admin().createTable(TableSchema.of("filled", "f"), List.of(Bytes.of("row05")));
        fillAndRead(stele.table("filled"));
      }
      assertThat(yarn.status().orElseThrow().components())
          .hasSize(3)
          .allMatch(ComponentStatus::running)
          .allMatch(component -> component.restarts() == 0);
      assertAllFit(conf);
      assertThat(yarn.stop(Duration.ofSeconds(120), line -> {})).isPresent();
    }
  }

  private static void fillAndRead(Table table) throws IOException {
    byte[] value = new byte[64 << 10];
    Random random = new Random(1);
    try (var writer = table.batchWriter()) {
      for (int i = 0; i < 1500; i++) {
        random.nextBytes(value);
        writer.add(Mutation.of("row%02d-%05d".formatted(i % 10, i)).put("f", "q", value));
      }
    }
    int rows = 0;
    try (Rows all = table.readRows(RowQuery.ALL)) {
      for (Row row : all) {
        assertThat(row.value("f", "q")).isPresent();
        rows++;
      }
    }
    assertThat(rows).isEqualTo(1500);
  }

  private void assertAllFit(Configuration conf) throws IOException {
    TreeMap<String, Long> sizes = new TreeMap<>();
    sizes.put("application-master", Keys.YARN_AM_MEMORY.in(conf));
    sizes.put("master-1", Keys.YARN_MASTER_MEMORY.in(conf));
    sizes.put("tabletserver-1", Keys.YARN_TABLETSERVER_MEMORY.in(conf));
    sizes.put("tabletserver-2", Keys.YARN_TABLETSERVER_MEMORY.in(conf));
    TreeMap<String, Long> processes = new TreeMap<>();
    for (TaggedProcess process : hadoop.processes()) {
      if (process.isJava() && process.command().contains("-Dstele.log.dir=")) {
        processes.put(process.component().orElse("application-master"), process.pid());
      }
    }
    assertThat(processes.keySet()).isEqualTo(sizes.keySet());
    for (String name : sizes.keySet()) {
      long virtual = most(processes.get(name), "VmPeak");
      long resident = most(processes.get(name), "VmHWM");
      long size = sizes.get(name);
      System.out.printf(
          "%s: container %d MiB, resident %d MiB, virtual %d MiB of %d%n",
          name, size >> 20, resident >> 20, virtual >> 20, (long) (size * VIRTUAL_RATIO) >> 20);
      assertThat(resident).as("%s: resident bytes", name).isLessThan(size);
      assertThat(virtual)
          .as("%s: virtual bytes", name)
          .isLessThan((long) (size * VIRTUAL_RATIO * 0.95));
    }
  }

  /** The most that the process ever had, in bytes. */
  private static long most(long pid, String what) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
      if (line.startsWith(what + ":")) {
        return Long.parseLong(line.replaceAll("[^0-9]", "")) << 10;
      }
    }
    throw new IOException("no " + what + " of process " + pid);
  }

  @Test
  void aProcessThatReservesTooMuchIsEndedAndTheReasonTold() throws Exception {
    Configuration conf = hadoop.configuration();
    conf.set(Keys.CLUSTER_NAME.name(), "greedy");
    conf.set(Keys.ROOT_DIR.name(), "/greedy");
    conf.set(Keys.YARN_FAILURES_MAX.name(), "1");
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "0");
    conf.set(
        Keys.YARN_MASTER_JVM_OPTIONS.name(),
        "-XX:CompressedClassSpaceSize=2g -XX:MaxMetaspaceSize=3g");
    // YARN looks at containers every few seconds: before the start is done, or after.
    try (YarnSubmitter yarn = YarnSubmitter.connect(conf)) {
      ApplicationId begun = yarn.start(options(), line -> {});
      assertThat(diagnosticsOfItsEnd(yarn, begun)).contains("virtual memory");
    } catch (SteleException e) {
      assertThat(e).hasMessageContaining("virtual memory").hasMessageContaining("stele.yarn.");
    }
  }

  private static String diagnosticsOfItsEnd(YarnSubmitter yarn, ApplicationId application)
      throws Exception {
    long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
    ApplicationStatus status = yarn.status(application);
    while (!Set.of("FAILED", "FINISHED", "KILLED").contains(status.state())) {
      assertThat(System.nanoTime()).as("%s", status).isLessThan(deadline);
      Thread.sleep(200);
      status = yarn.status(application);
    }
    return status.diagnostics();
  }
}
