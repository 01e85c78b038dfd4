package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.ChildJvm;
import io.stele.client.BatchWriter;
import io.stele.client.MutationsFailedException;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.config.MemoryPlan;
import io.stele.config.ProcessMemory;
import io.stele.lock.CuratorLockService;
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
import io.stele.runtime.SystemRuntime;
import io.stele.wire.Address;
import io.stele.wire.DataPlane;
import io.stele.wire.NetworkTransport;
import io.stele.wire.RawPeer;
import io.stele.wire.Transport;
import io.stele.wire.data.DataProtos.OutcomeProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.net.Socket;
import java.nio.ByteBuffer;
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
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A tablet server, a process of its own, with no more memory than its configuration needs, and more
 * asked of it at once than it can hold: by clients of their own, as one client alone would wait for
 * answers before it sent more, and by volleys of requests that are all begun before one is
 * complete.
 */
@Timeout(180)
class SmallMemoryIT {
  private static final long MIB = 1L << 20;
  private static final int SCANNERS = 8;

  /** What one task writes: a full buffer. */
  private static final int TASK_MUTATIONS = 2_000;

  @TempDir Path scratch;

  private final Configuration conf = new Configuration(false);
  private final List<Process> processes = new ArrayList<>();
  private final Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
  private final AtomicLong later = new AtomicLong();
  private final AtomicReference<Captured> captured = new AtomicReference<>();
  private int fired; // By the thread of volleys alone, and read after it.
  private int putOff;
  private final Set<String> applied = ConcurrentHashMap.newKeySet();

  /** In both, the values of a volley are more than the heap: to let them all in would end it. */
  @Test
  void withTheLeastMemoryThatIsPermittedNoServerEndsWhateverIsAsked() throws Exception {
    survives(new Load(64, 32, 256, Duration.ofSeconds(6)));
  }

  @Test
  void withTheLeastMemoryForLargerValuesNoServerEndsEither() throws Exception {
    conf.set(Keys.VALUE_BYTES_MAX.name(), "8m");
    survives(new Load(8, 4, 64, Duration.ofSeconds(3)));
  }

  /**
   * What is asked of the server.
   *
   * @param writers clients that write the largest value again and again
   * @param tasks clients that write a full buffer of small ones
   * @param volley how many connections send the largest value at once
   */
  private record Load(int writers, int tasks, int volley, Duration time) {}

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

  private void survives(Load load) throws Exception {
    conf.set(Keys.CACHE_BYTES.name(), "2m");
    ProcessMemory memory = least();
    MemoryPlan plan = MemoryPlan.of(conf, memory);
    int valueBytes = Math.toIntExact(plan.valueBytesMax());
    System.out.printf(
        "heap %d MiB, beside it %d MiB, values of %d bytes%n",
        memory.heapBytes() / MIB, memory.directBytes() / MIB, valueBytes);
    try (ZooKeeperProcess zooKeeper =
        ZooKeeperProcess.start(scratch.resolve("zookeeper"), Duration.ofSeconds(2))) {
      start(zooKeeper, memory);
      try (Stele stele = Stele.connect(conf)) {
        createTable(stele);
        run(load, valueBytes);
        checkAllLive();
        assertThat(wrong).isEmpty();
        System.out.printf(
            "%d large values applied; of %d in volleys %d put off; 'retry later' to %s calls%n",
            applied.size(), fired, putOff, later);
        assertThat(putOff).isPositive();
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
            ChildJvm.shortLived("128m"),
            MasterMain.class,
            List.of(),
            environment,
            scratch.resolve("master.log")));
    processes.add(
        ChildJvm.start(
            List.of(
                "-Xmx" + memory.heapBytes() / MIB + "m",
                "-XX:MaxDirectMemorySize=" + memory.directBytes() / MIB + "m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:+ExitOnOutOfMemoryError"),
            TabletServerMain.class,
            List.of(),
            environment,
            scratch.resolve("server.log")));
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

  private void run(Load load, int valueBytes) throws Exception {
    byte[] value = new byte[valueBytes];
    new Random(1).nextBytes(value);
    Bytes large = Bytes.wrap(value);
    ClusterConfig cluster = ClusterConfig.of(conf);
    ExecutorService threads =
        Executors.newFixedThreadPool(load.writers() + load.tasks() + SCANNERS + 1);
    List<NetworkTransport> transports = new ArrayList<>();
    List<Stele> clients = new ArrayList<>();
    try (CuratorLockService locks =
        CuratorLockService.connect(
            SystemRuntime.INSTANCE,
            cluster.zookeeperQuorum(),
            cluster.name(),
            cluster.sessionTimeout())) {
      List<Table> tables = new ArrayList<>();
      for (int i = 0; i < load.writers() + load.tasks() + SCANNERS; i++) {
        NetworkTransport transport =
            new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
        transports.add(transport);
        clients.add(Stele.over(conf, SystemRuntime.INSTANCE, locks, capturing(transport)));
        tables.add(clients.get(i).table("t"));
        tables.get(i).readRow("0"); // So that it is connected, and knows where to write.
      }
      tables.get(0).mutate(Mutation.of("0-volley").put("f", Bytes.of("q"), large));
      long end = System.nanoTime() + load.time().toNanos();
      List<Callable<Void>> work = new ArrayList<>();
      for (int i = 0; i < tables.size(); i++) {
        Table table = tables.get(i);
        String row = i % 10 + "-" + i;
        if (i < load.writers()) {
          work.add(() -> writeLarge(table, row, large, end));
        } else if (i < load.writers() + load.tasks()) {
          work.add(() -> writeMany(table, row));
        } else {
          work.add(() -> scan(table, end));
        }
      }
      work.add(() -> fire(captured.get(), load.volley(), end));
      for (Future<Void> done : threads.invokeAll(work)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
      clients.forEach(Stele::close);
      transports.forEach(NetworkTransport::close);
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
    byte[] bytes = new byte[4000];
    new Random(prefix.hashCode()).nextBytes(bytes);
    Bytes value = Bytes.wrap(bytes);
    try (BatchWriter writer = table.batchWriter()) {
      for (int i = 0; i < TASK_MUTATIONS; i++) {
        writer.add(Mutation.of(prefix + "-" + i).put("f", Bytes.of("q"), value));
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
      Path log = scratch.resolve(i == 0 ? "master.log" : "server.log");
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

  /** A request to write a large value, as a client sent it. */
  private record Captured(Address server, RequestProto request, ByteBuffer body) {
    /** It as a frame, without its operation id: each time it is another write. */
    byte[] frame() {
      RequestProto.Builder again = request.toBuilder().setCallId(1).setRemainingMillis(30_000);
      again.getMutateBuilder().clearOperations();
      again.getMutateBuilder().getMutationsBuilderList().forEach(m -> m.clearOperation());
      return RawPeer.frame(again.build(), body.duplicate());
    }
  }

  /** {@code transport}, of which the first large request is kept. */
  private Transport capturing(NetworkTransport transport) {
    DataPlane plane = transport.dataPlane();
    DataPlane watched =
        (server, request, body, timeout, waiting) -> {
          if (body.remaining() >= MIB && captured.get() == null) {
            ByteBuffer copy = ByteBuffer.allocate(body.remaining()).put(body.duplicate()).flip();
            captured.compareAndSet(null, new Captured(server, request, copy));
          }
          return plane.call(server, request, body, timeout, waiting);
        };
    return (Transport)
        Proxy.newProxyInstance(
            Transport.class.getClassLoader(),
            new Class<?>[] {Transport.class},
            (proxy, method, arguments) ->
                method.getName().equals("dataPlane")
                    ? watched
                    : method.invoke(transport, arguments));
  }

  /**
   * Sends the request on many connections, all of it but one byte on each, then that byte: so the
   * server has as much of them at once as it lets in.
   */
  private Void fire(Captured shot, int volley, long end) throws IOException {
    byte[] frame = shot.frame();
    do {
      List<Socket> sockets = new ArrayList<>();
      try {
        for (int i = 0; i < volley; i++) {
          Socket socket = new Socket(shot.server().host(), shot.server().port());
          sockets.add(socket);
          RawPeer.hello(socket, 1).write(frame, 0, frame.length - 1);
        }
        for (Socket socket : sockets) {
          socket.getOutputStream().write(frame, frame.length - 1, 1);
        }
        for (Socket socket : sockets) {
          ResponseProto answer = RawPeer.readAnswer(new DataInputStream(socket.getInputStream()));
          fired++;
          if (isPutOff(answer)) {
            putOff++;
          }
        }
      } catch (IOException e) {
        wrong.add(e); // The server is gone, or closed a connection that it should not have.
        return null;
      } finally {
        for (Socket socket : sockets) {
          socket.close();
        }
      }
    } while (System.nanoTime() < end);
    return null;
  }

  private boolean isPutOff(ResponseProto answer) {
    List<StatusProto> statuses =
        answer.getStatus() == StatusProto.OK
            ? answer.getOutcomesList().stream().map(OutcomeProto::getStatus).toList()
            : List.of(answer.getStatus());
    for (StatusProto status : statuses) {
      if (status != StatusProto.OK && status != StatusProto.RETRY_LATER) {
        wrong.add(new AssertionError(answer.toString()));
      }
    }
    return statuses.contains(StatusProto.RETRY_LATER);
  }
}
