package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.lock.UnreachableException;
import io.stele.lock.ZooKeeperProcess;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.NetworkTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A cluster whose ZooKeeper is away for half a minute. */
@Execution(ExecutionMode.CONCURRENT) // They wait for the outage to end.
@Timeout(300)
class ZooKeeperOutageIT {
  private static final Duration OUTAGE = Duration.ofSeconds(30);
  private static final Duration LEASE = Duration.ofSeconds(5);
  // How soon is held on virtual time, by LongOutageTest: here only that no call hangs.
  private static final Duration BACK_MAX = Duration.ofSeconds(60);
  private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration LATE_MAX = Duration.ofSeconds(20);

  @TempDir Path scratch;

  /** Something the outage begins or ends with. */
  private interface Step {
    void take() throws Exception;
  }

  /** Its sessions are long enough for all to come back, on a slow machine too. */
  @Test
  void killedAndStartedAgainItFindsEveryProcessAndServiceGoesOn() throws Exception {
    try (ZooKeeperProcess server = ZooKeeperProcess.start(scratch, Duration.ofSeconds(2))) {
      survives(server, Duration.ofSeconds(20), server::kill, server::start);
    }
  }

  /**
   * Its sessions are longer than it stands still: else it would end them, and processes rightly.
   */
  @Test
  void standingStillAndGoingOnItFindsEveryProcessAndServiceGoesOn() throws Exception {
    try (ZooKeeperProcess server = ZooKeeperProcess.start(scratch, Duration.ofSeconds(5))) {
      survives(server, Duration.ofSeconds(90), server::stop, server::goOn);
    }
  }

  private static Site site(ZooKeeperProcess server, Duration timeout) {
    CrashableDisk disk = new CrashableDisk();
    return new Site() {
      @Override
      public FileSystem mount() {
        return disk.mount();
      }

      @Override
      public LockService connect() throws IOException {
        return CuratorLockService.connect(SystemRuntime.INSTANCE, server.quorum(), "test", timeout);
      }

      @Override
      public void kill(FileSystem view, RandomGenerator random) {
        disk.kill((CrashableFileSystem) view, random);
      }
    };
  }

  private void survives(ZooKeeperProcess server, Duration timeout, Step begin, Step end)
      throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    conf.set(Keys.SESSION_TIMEOUT.name(), timeout.toSeconds() + "s");
    conf.set(Keys.LEASE.name(), LEASE.toSeconds() + "s");
    conf.set(Keys.CLIENT_TIMEOUT.name(), CLIENT_TIMEOUT.toSeconds() + "s");
    Site site = site(server, timeout);
    try (MiniStele cluster = MiniStele.start(conf, site, 2, 1)) {
      cluster.createTable(TableSchema.of("t", List.of(ColumnFamily.of("f"))));
      List<ServerId> before = cluster.servers();
      List<Worker> workers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        workers.add(new Worker(cluster.client().table("t"), "row" + i, i % 2 == 0));
      }
      // Its first request finds out where everything is.
      try (LockService late = site.connect();
          NetworkTransport transport =
              new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
          Stele client = Stele.over(conf, SystemRuntime.INSTANCE, late, transport)) {
        for (Worker worker : workers) {
          worker.awaitAnswer(System.nanoTime());
        }
        begin.take();
        long away = System.nanoTime(); // Not before: until then leases may be renewed.
        TimeUnit.NANOSECONDS.sleep(OUTAGE.toNanos());
        long back = System.nanoTime();
        for (Worker worker : workers) {
          worker.assertSilent(away + LEASE.toNanos(), back);
        }
        assertThat(cluster.aborts()).isEmpty();
        end.take();
        long there = System.nanoTime();
        MiniStele.await("the session is back", () -> answers(late));
        long session = System.nanoTime();
        workers.add(new Worker(client.table("t"), "late", true));
        Duration longest = Duration.ZERO;
        for (Worker worker : workers) {
          Duration took = Duration.ofNanos(worker.awaitAnswer(there) - there);
          longest = took.compareTo(longest) > 0 ? took : longest;
        }
        System.out.println(
            "sessions are back "
                + Duration.ofNanos(session - there).toMillis()
                + " ms after ZooKeeper, service "
                + longest.toMillis()
                + " ms");
        assertThat(longest).isLessThanOrEqualTo(BACK_MAX);
      }
      for (Worker worker : workers) {
        worker.end();
      }
      assertThat(cluster.aborts()).isEmpty();
      assertThat(cluster.servers()).isEqualTo(before);
      assertThat(cluster.master().isActive()).isTrue();
      cluster.createTable(TableSchema.of("u", List.of(ColumnFamily.of("f"))));
    }
  }

  /** Whether there is an answer; it may take longer than one call waits for it. */
  private static boolean answers(LockService locks) throws IOException {
    try {
      locks.read("registration");
      return true;
    } catch (UnreachableException e) {
      return false;
    }
  }

  /** A call that was answered: when it was made, and when the answer came. */
  private record Answer(long begunNanos, long nanos) {}

  /** One after the other it reads or writes a row, and remembers when it was answered. */
  private static final class Worker {
    private final Table table;
    private final String row;
    private final boolean writes;
    private final List<Answer> answers = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong longest = new AtomicLong();
    private final AtomicBoolean over = new AtomicBoolean();
    private final Thread thread;
    private volatile Throwable failure;

    Worker(Table table, String row, boolean writes) {
      this.table = table;
      this.row = row;
      this.writes = writes;
      this.thread = new Thread(this::work, "worker-" + row);
      thread.setDaemon(true);
      thread.start();
    }

    private void work() {
      try {
        while (!over.get()) {
          long start = System.nanoTime();
          if (call()) {
            answers.add(new Answer(start, System.nanoTime()));
          }
          longest.accumulateAndGet(System.nanoTime() - start, Math::max);
          TimeUnit.MILLISECONDS.sleep(5);
        }
      } catch (IOException | InterruptedException | RuntimeException e) {
        failure = e;
      }
    }

    private boolean call() throws IOException {
      try {
        if (writes) {
          table.mutate(Mutation.of(row).put("f", "", "value"));
        } else {
          table.readRow(row);
        }
        return true;
      } catch (SteleException e) {
        return false;
      }
    }

    /** When it was answered first after {@code nanos}. */
    long awaitAnswer(long nanos) throws Exception {
      long start = System.nanoTime();
      while (true) {
        assertThat(failure).isNull();
        synchronized (answers) {
          for (Answer answer : answers) {
            if (answer.nanos() - nanos > 0) {
              return answer.nanos();
            }
          }
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
        TimeUnit.MILLISECONDS.sleep(5);
      }
    }

    /** No call that was made after {@code from} was answered before {@code to}. */
    void assertSilent(long from, long to) {
      synchronized (answers) {
        assertThat(answers)
            .filteredOn(answer -> answer.begunNanos() - from > 0 && to - answer.nanos() > 0)
            .isEmpty();
      }
    }

    void end() throws Exception {
      over.set(true);
      thread.join();
      assertThat(failure).isNull();
      assertThat(Duration.ofNanos(longest.get())).isLessThan(CLIENT_TIMEOUT.plus(LATE_MAX));
    }
  }
}
