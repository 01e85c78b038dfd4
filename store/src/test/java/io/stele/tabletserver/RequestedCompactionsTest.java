package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.TableSchema;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Major compactions that users request. */
@Timeout(60)
class RequestedCompactionsTest {
  private final TestServer.World world = new TestServer.World();

  private static HostedTablet tablet(TestServer server, String table) throws Exception {
    HostedTablet hosted = server.takeNew(TableSchema.of(table, "f"));
    for (int i = 0; i < 3; i++) {
      TestServer.put(hosted, "row" + i, "value");
      hosted.tablet().minorCompact();
    }
    TestServer.put(hosted, "row", "value");
    return hosted;
  }

  @Test
  void aRequestBeginsOneThatLeavesOneFileAndNoMemtable() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = tablet(server, "t");
      long number = server.requested.compact(hosted);
      assertThat(server.requested.isCompacted(hosted, number)).isFalse();
      server.work();
      assertThat(server.requested.isCompacted(hosted, number)).isTrue();
      assertThat(hosted.tablet().statistics().files()).isEqualTo(1);
      assertThat(hosted.tablet().statistics().memtableBytes()).isZero();
      assertThat(hosted.rewrites().free()).isEqualTo(HostedTablet.REWRITES_MAX);
    }
  }

  @Test
  void requestsShareOneUntilItBeginsAndGetAnotherThen() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = tablet(server, "t");
      long number = server.requested.compact(hosted);
      assertThat(server.requested.compact(hosted)).isEqualTo(number);
      AtomicLong later = new AtomicLong();
      world.metadata.before(
          update -> {
            if (later.get() == 0) {
              later.set(server.requested.compact(hosted)); // While it runs.
            }
          });
      server.rewrites.work();
      assertThat(server.requested.isCompacted(hosted, number)).isTrue();
      assertThat(later.get()).isEqualTo(number + 1);
      assertThat(server.requested.isCompacted(hosted, later.get())).isFalse();
      server.work();
      assertThat(server.requested.isCompacted(hosted, later.get())).isTrue();
    }
  }

  @Test
  void oneThatRunsIsNotBegunAgainForThoseWhoAskForIt() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = tablet(server, "t");
      long number = server.requested.compact(hosted);
      world.metadata.before(
          update -> {
            if (!server.requested.isCompacted(hosted, number)) {
              server.maintenance().round(); // While it runs.
            }
          });
      server.work();
      assertThat(server.requested.isCompacted(hosted, number)).isTrue();
      server.maintenance().round();
      server.work();
      assertThat(server.requested.compact(hosted))
          .as("the next one to begin")
          .isEqualTo(number + 1);
    }
  }

  @Test
  void oneThatHasFailedIsInTroubleOnlyUntilItIsTriedAgain() throws Exception {
    AtomicLong skipped = new AtomicLong();
    ProcessRuntime runtime = ForwardingRuntime.ahead(skipped::get);
    try (TestServer server = new TestServer(world, runtime, new Configuration(false))) {
      HostedTablet hosted = tablet(server, "t");
      long number = server.requested.compact(hosted);
      world.disk.inject(
          FaultInjector.always(
              Operation.CREATE,
              path -> path.getName().endsWith(".sst"),
              new FaultInjector.Effect.Fail()));
      server.work();
      world.disk.heal();
      assertThat(RequestedWork.whyNotCompacted(hosted)).isPresent();
      assertThat(RequestedWork.restsFromCompaction(hosted)).isTrue();
      skipped.set(Duration.ofSeconds(6).toNanos());
      assertThat(server.requested.isCompacted(hosted, number)).isFalse();
      assertThat(RequestedWork.restsFromCompaction(hosted)).as("while it waits").isFalse();
      world.metadata.before(
          update ->
              assertThat(RequestedWork.restsFromCompaction(hosted)).as("while it runs").isFalse());
      server.work();
      assertThat(server.requested.isCompacted(hosted, number)).isTrue();
      assertThat(RequestedWork.whyNotCompacted(hosted)).isEmpty();
    }
  }

  @Test
  void theyTakeOneThreadHoweverManyTabletsThereAre() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet one = tablet(server, "one");
      HostedTablet two = tablet(server, "two");
      long first = server.requested.compact(one);
      long second = server.requested.compact(two);
      assertThat(server.rewrites.size()).isEqualTo(1);
      server.rewrites.work();
      assertThat(server.requested.isCompacted(one, first)).isTrue();
      assertThat(server.rewrites.size()).isEqualTo(1);
      server.rewrites.work();
      assertThat(server.requested.isCompacted(two, second)).isTrue();
      assertThat(server.rewrites.size()).isZero();
    }
  }

  @Test
  void oneThatCouldNotBeMadeIsMadeThoughNobodyAsksAgain() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = tablet(server, "t");
      hosted.awaitRewrites(); // As for a split, which then fails.
      long number = server.requested.compact(hosted);
      server.work();
      hosted.rewrites().release(HostedTablet.REWRITES_MAX);
      server.maintenance().round();
      server.work();
      assertThat(hosted.compactions().isDone(number)).isTrue();
    }
  }
}
