package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.ClusterStatus;
import io.stele.client.Table;
import io.stele.model.Mutation;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.ProcessRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.HostShare;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where the bytes of a server's tablets lie, as the server, on the host "host", finds it out. */
@Timeout(120)
class TabletLocalityTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");
  private static final String MEGABYTE = "x".repeat(1 << 20);

  /** Files whose blocks lie where the test says. */
  private static final class Placed extends FilterFileSystem {
    final Map<Integer, String[][]> blocks = new TreeMap<>(); // By the number of the file asked for.
    final List<String> asked = new ArrayList<>();
    boolean away;

    Placed(FileSystem fs) {
      super(fs);
    }

    @Override
    public BlockLocation[] getFileBlockLocations(Path path, long start, long length)
        throws IOException {
      asked.add(path.getName());
      if (away) {
        throw new IOException("the NameNode is away");
      }
      String[][] hosts = blocks.get(asked.size());
      if (hosts == null) {
        throw new FileNotFoundException(path.toString());
      }
      long each = length / hosts.length;
      return Arrays.stream(hosts)
          .map(names -> new BlockLocation(names, names, 0, each))
          .toArray(BlockLocation[]::new);
    }
  }

  private final AtomicLong aheadNanos = new AtomicLong();
  private final ProcessRuntime runtime = ForwardingRuntime.ahead(aheadNanos::get);

  private TestServer server() throws IOException {
    return new TestServer(new TestServer.World(), runtime, new Configuration(false));
  }

  private static void addFile(HostedTablet hosted, String row, String value) throws Exception {
    TestServer.put(hosted, row, value);
    hosted.tablet().minorCompact();
  }

  @Test
  void theSharesOfATabletAreThoseOfTheBytesOfItsFiles() throws Exception {
    try (TestServer server = server()) {
      Placed fs = new Placed(server.fs);
      HostedTablet hosted = server.takeNew(SCHEMA);
      addFile(hosted, "a", MEGABYTE + MEGABYTE + MEGABYTE);
      addFile(hosted, "b", MEGABYTE);
      TabletLocality locality = new TabletLocality(server.context, fs, server.layout);
      assertThat(locality.of(hosted)).isEmpty();
      assertThat(locality.localPercent(List.of(hosted))).isEmpty();

      // The larger file first: two of its three blocks are on this host.
      fs.blocks.put(1, new String[][] {{"Host", "b"}, {"HOST", "c"}, {"c", "d"}});
      fs.blocks.put(2, new String[][] {{"c", "c"}});
      locality.ask();
      assertThat(locality.localPercent(List.of(hosted))).contains(66);
      locality.ask();
      assertThat(fs.asked).hasSize(2).doesNotHaveDuplicates();
      assertThat(locality.of(hosted)).extracting(HostShare::host).containsExactly("c", "host", "b");
      assertThat(locality.of(hosted).get(0).percent()).isBetween(70, 80);
      assertThat(locality.localPercent(List.of(hosted)).orElseThrow()).isBetween(45, 52);
    }
  }

  @Test
  void aFileIsAskedAboutOnceAndAgainOnlyAfterHours() throws Exception {
    try (TestServer server = server()) {
      Placed fs = new Placed(server.fs);
      fs.blocks.put(1, new String[][] {{"host"}});
      fs.blocks.put(2, new String[][] {{"other"}});
      HostedTablet hosted = server.takeNew(SCHEMA);
      addFile(hosted, "a", "value");
      TabletLocality locality = new TabletLocality(server.context, fs, server.layout);
      for (int i = 0; i < 10; i++) {
        locality.ask();
      }
      assertThat(fs.asked).hasSize(1);
      assertThat(locality.of(hosted)).containsExactly(new HostShare("host", 100));
      aheadNanos.addAndGet(Duration.ofDays(1).toNanos());
      for (int i = 0; i < 10; i++) {
        locality.ask();
      }
      assertThat(fs.asked).hasSize(2);
      assertThat(locality.of(hosted)).containsExactly(new HostShare("other", 100));
    }
  }

  @Test
  void aNameNodeThatIsAwayIsAskedAgainAndAMissingFileKeepsNoOtherFromBeingAskedFor()
      throws Exception {
    try (TestServer server = server()) {
      Placed fs = new Placed(server.fs);
      fs.blocks.put(4, new String[][] {{"host"}}); // The third call finds the large file missing.
      HostedTablet hosted = server.takeNew(SCHEMA);
      addFile(hosted, "a", MEGABYTE);
      HostedTablet other = server.takeNew(TableSchema.of("u", "f"));
      addFile(other, "a", "value");
      TabletLocality locality = new TabletLocality(server.context, fs, server.layout);
      fs.away = true;
      locality.ask();
      locality.ask();
      fs.away = false;
      locality.ask();
      locality.ask();
      locality.ask();
      assertThat(fs.asked).hasSize(4);
      assertThat(locality.localPercent(List.of(hosted))).isEmpty();
      assertThat(locality.localPercent(List.of(other))).contains(100);
    }
  }

  @Test
  void theStatusOfTheClusterHasTheShareOfLocalBytes() throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 0, 1)) {
      TabletServer server = cluster.startServer();
      cluster.awaitServed(TableId.METADATA);
      cluster.client().admin().createTable(SCHEMA);
      Table table = cluster.client().table("t");
      table.mutate(Mutation.of("row").put("f", "q", "value"));
      for (HostedTablet hosted : server.tablets().all()) {
        hosted.tablet().minorCompact();
      }
      // The disk says that all bytes are on "localhost".
      int local = server.id().host().equals("localhost") ? 100 : 0;
      MiniStele.await(
          "the share of local bytes",
          () -> {
            List<ClusterStatus.Server> servers = cluster.client().admin().clusterStatus().servers();
            return servers.get(0).localPercent().equals(Optional.of(local));
          });
    }
  }
}
