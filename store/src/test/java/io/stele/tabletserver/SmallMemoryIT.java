package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.ChildJvm;
import io.stele.client.BatchWriter;
import io.stele.client.MutationsFailedException;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.config.MemoryPlan;
import io.stele.config.ProcessMemory;
import io.stele.lock.ZooKeeperProcess;
import io.stele.master.MasterMain;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tablet servers, each a process of its own, with no more memory than their configuration needs,
 * and more asked of them than they can hold.
 */
@Timeout(180)
class SmallMemoryIT {
  private static final long MIB = 1L << 20;
  private static final int SERVERS = 2;
  private static final int WRITERS = 64;
  private static final int TASKS = 32;
  private static final int SCANNERS = 8;
  private static final Duration LOAD = Duration.ofSeconds(8);

  /** What one task writes: a full buffer. */
  private static final int TASK_MUTATIONS = 8_500;

  @TempDir Path scratch;

  private final Configuration conf = new Configuration(false);
  private final List<Process> processes = new ArrayList<>();
  private final Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicLong later = new AtomicLong();
  private final Set<String> applied = ConcurrentHashMap.newKeySet();

  @Test
  void withTheLeastMemoryThatIsPermittedNoServerEndsWhateverIsAsked() throws Exception {
    conf.set(Keys.CACHE_BYTES.name(), "2m");
    survivesMoreThanItCanHold(least());
  }

  @Test
  void withTheMemoryOfTheDefaultContainerNoServerEndsEither() throws Exception {
    survivesMoreThanItCanHold(new ProcessMemory(704 * MIB, 192 * MIB));
  }

  /** The smallest heap, and the smallest memory beside it, with which a server would start. */
  private ProcessMemory least() {
    long heap = 32 * MIB;
    while (!isPermitted(new ProcessMemory(heap, 16L << 30))) {
      heap += MIB;
    }
    long direct = MIB;
    while (!isPermitted(new ProcessMemory(heap, direct))) {
      direct += MIB;
    }
    return new ProcessMemory(heap, direct);
  }

  private boolean isPermitted(ProcessMemory memory) {
    try {
      MemoryPlan.of(conf, memory);
      return true;
    } catch (SteleException e) {
      return false;
    }
  }

  private void survivesMoreThanItCanHold(ProcessMemory memory) throws Exception {
    int valueBytes = Math.toIntExact(MemoryPlan.of(conf, memory).valueBytesMax());
    System.out.printf(
        "heap %d MiB, beside it %d MiB, values of %d bytes%n",
        memory.heapBytes() / MIB, memory.directBytes() / MIB, valueBytes);
    try (ZooKeeperProcess zooKeeper =
        ZooKeeperProcess.start(scratch.resolve("zookeeper"), Duration.ofSeconds(2))) {
      start(zooKeeper, memory);
      try (Stele stele = Stele.connect(conf)) {
        createTable(stele);
        load(stele, valueBytes);
        checkAllLive();
        assertThat(wrong).isEmpty();
        System.out.println(
            applied.size()
                + " large values applied, to "
                + later
                + " calls 'retry later' was said");
        checkRead(stele.table("t"), valueBytes);
        checkTooLargeIsRefused(stele.table("t"), valueBytes);
        checkAllLive();
      }
    } finally {
      processes.forEach(Process::destroyForcibly);
      for (Process process : processes) {
        process.waitFor();
      }
    }
  }

  private void start(ZooKeeperProcess zooKeeper, ProcessMemory memory) throws Exception {
    conf.set("fs.defaultFS", "file:///");
    conf.set(Keys.ROOT_DIR.name(), scratch.resolve("root").toString());
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), zooKeeper.quorum());
    conf.set(Keys.LOG_REPLICAS_MIN.name(), "1");
    Path site = scratch.resolve("site.xml");
    try (OutputStream out = Files.newOutputStream(site)) {
      conf.writeXml(out);
    }
    Map<String, String> environment = Map.of("STELE_CONF", site.toString(), "NM_HOST", "127.0.0.1");
    processes.add(
        ChildJvm.start(
            List.of("-Xmx128m", "-XX:+UseSerialGC"),
            MasterMain.class,
            List.of(),
            environment,
            scratch.resolve("master.log")));
    for (int i = 0; i < SERVERS; i++) {
      processes.add(
          ChildJvm.start(
              List.of(
                  "-Xmx" + memory.heapBytes() / MIB + "m",
                  "-XX:MaxDirectMemorySize=" + memory.directBytes() / MIB + "m",
                  "-XX:+UseSerialGC",
                  "-Xlog:gc:file=" + scratch.resolve("gc-" + i + ".log"),
                  "-XX:+ExitOnOutOfMemoryError"),
              TabletServerMain.class,
              List.of(),
              environment,
              scratch.resolve("server-" + i + ".log")));
    }
  }

  private void createTable(Stele stele) throws Exception {
    TableSchema schema = TableSchema.of("t", List.of(ColumnFamily.of("f"))).withCodec(Codec.ZSTD);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (true) {
      try {
        stele.admin().createTable(schema, List.of(Bytes.of("3"), Bytes.of("5"), Bytes.of("8")));
        return;
      } catch (SteleException e) {
        checkAllLive();
        assertThat(System.nanoTime()).as("%s", e).isLessThan(deadline);
      }
    }
  }

  private void load(Stele stele, int valueBytes) throws Exception {
    byte[] value = new byte[valueBytes];
    new Random(1).nextBytes(value);
    Bytes large = Bytes.wrap(value);
    long end = System.nanoTime() + LOAD.toNanos();
    List<Callable<Void>> work = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      String row = i % 10 + "-large-" + i;
      work.add(() -> writeLarge(stele.table("t"), row, large, end));
    }
    for (int i = 0; i < TASKS; i++) {
      String row = i % 10 + "-task-" + i;
      work.add(() -> writeMany(stele.table("t"), row));
    }
    for (int i = 0; i < SCANNERS; i++) {
      work.add(() -> scan(stele.table("t"), end));
    }
    ExecutorService threads = Executors.newFixedThreadPool(work.size());
    try {
      for (Future<Void> done : threads.invokeAll(work)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private Void writeLarge(Table table, String prefix, Bytes value, long end) throws IOException {
    for (int i = 0; System.nanoTime() < end; i++) {
      String row = prefix + "-" + i;
      try {
        table.mutate(Mutation.of(row).put("f", Bytes.of("q"), value));
        applied.add(row);
      } catch (SteleException e) {
        checkIsLater(e);
      }
    }
    return null;
  }

  private Void writeMany(Table table, String prefix) throws IOException {
    byte[] value = new byte[1000];
    new Random(prefix.hashCode()).nextBytes(value);
    try (BatchWriter writer = table.batchWriter()) {
      for (int i = 0; i < TASK_MUTATIONS; i++) {
        writer.add(Mutation.of(prefix + "-" + i).put("f", "q", value));
      }
    } catch (MutationsFailedException e) {
      e.failed().forEach(outcome -> checkIsLater(outcome.failure().orElseThrow()));
    } catch (SteleException e) {
      checkIsLater(e);
    }
    return null;
  }

  private Void scan(Table table, long end) throws IOException {
    while (System.nanoTime() < end) {
      try (Rows rows = table.readRows(RowQuery.ALL)) {
        int left = 200;
        for (Row row : rows) {
          assertThat(row.value("f", "q")).isPresent();
          if (left-- == 0 || System.nanoTime() > end) {
            break;
          }
        }
      } catch (SteleException e) {
        checkIsLater(e);
      }
    }
    return null;
  }

  private void checkIsLater(SteleException e) {
    later.incrementAndGet();
    if (e.code() != SteleException.Code.RETRY_LATER) {
      wrong.add(e);
    }
  }

  private void checkAllLive() throws IOException {
    for (int i = 0; i < processes.size(); i++) {
      Path log = scratch.resolve(i == 0 ? "master.log" : "server-" + (i - 1) + ".log");
      assertThat(processes.get(i).isAlive()).as(Files.readString(log)).isTrue();
    }
  }

  private void checkRead(Table table, int valueBytes) throws IOException {
    for (String row : applied) {
      Optional<Bytes> value = table.readRow(row).flatMap(found -> found.value("f", "q"));
      assertThat(value.map(Bytes::length)).as(row).contains(valueBytes);
    }
  }

  private static void checkTooLargeIsRefused(Table table, int valueBytes) {
    for (int bytes : new int[] {valueBytes + 1, 100 << 20}) {
      assertThatThrownBy(
              () -> table.mutate(Mutation.of("0-too-large").put("f", "q", new byte[bytes])))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
    }
    assertThat(table.name()).isEqualTo("t");
  }
}
