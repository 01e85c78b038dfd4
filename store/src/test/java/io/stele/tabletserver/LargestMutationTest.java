package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.config.Keys;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.OperationSize;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletKind;
import io.stele.model.TimeRange;
import io.stele.runtime.SystemRuntime;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.ReadRequest;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Mutations whose cells take most: a memtable keeps the row's key with each. What is allowed stops
 * neither a tablet nor a server, nor whoever replays it.
 */
@Timeout(120)
class LargestMutationTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");
  private static final long MEMTABLES = 16 << 20;

  /** What the arena leaves of a chunk where the next cell does not fit: a quarter at most. */
  private static final double ARENA_WASTE = 4.0 / 3;

  /** Keys and values have chunks of their own: the last of each, and smaller ones before it. */
  private static final long ARENA_CHUNKS = 2 * (256 + 128 + 64 + 32 + 16 + 8 + 4 + 2 + 1) << 10;

  private final TestServer.World world = new TestServer.World();

  private static Configuration conf() {
    Configuration conf = new Configuration(false);
    conf.set(Keys.MEMTABLE_TOTAL_BYTES.name(), Long.toString(MEMTABLES));
    return conf;
  }

  private static MemtableBudget memtables(TestServer server, HostedTablet hosted) {
    return server.context.resources().of(hosted.id()).memtables();
  }

  /** As {@link DataService} does it. */
  private static void apply(TestServer server, HostedTablet hosted, Mutation mutation)
      throws Exception {
    try (MemtableBudget.Reservation room =
        memtables(server, hosted).reserve(TabletKind.USER, OperationSize.of(mutation))) {
      hosted.tablet().apply(OperationRequest.of(mutation).within(room)).get(30, TimeUnit.SECONDS);
    }
  }

  private static long most(Mutation mutation) {
    return (long) (OperationSize.of(mutation) * ARENA_WASTE) + ARENA_CHUNKS;
  }

  /** A short request that makes much: a row with the longest key, and so many empty cells. */
  private static Mutation wide(int cells) {
    Mutation.Builder mutation = Mutation.builder(Bytes.wrap(new byte[Limits.ROW_BYTES_MAX]));
    for (int i = 0; i < cells; i++) {
      mutation.put("f", Bytes.of("q" + i), Bytes.EMPTY);
    }
    return mutation.build();
  }

  @Test
  void theLargestMutationIsAppliedWrittenOutAndReplayed() throws Exception {
    int cells = 0;
    while (OperationSize.of(wide(cells + 1)) <= MEMTABLES) {
      cells++;
    }
    Mutation largest = wide(cells);
    Mutation larger = wide(cells + 1);
    TabletRecord loaded;
    TestServer first = new TestServer(world, SystemRuntime.INSTANCE, conf());
    HostedTablet hosted = first.takeNew(SCHEMA);
    assertThatThrownBy(() -> apply(first, hosted, larger))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
    apply(first, hosted, largest);
    assertThat(memtables(first, hosted).bytes()).isLessThanOrEqualTo(most(largest));
    hosted.tablet().minorCompact();
    apply(first, hosted, largest); // Replayed below: nothing writes it out.
    assertThat(hosted.tablet().failure()).isEmpty();
    assertThat(first.aborts).isEmpty();
    loaded = first.stored(hosted.id());
    first.dieAndBeFenced();

    try (TestServer second = new TestServer(world, SystemRuntime.INSTANCE, conf())) {
      HostedTablet again = second.takeOver(loaded);
      assertThat(
              again.tablet().read(ReadRequest.of(RowQuery.ALL.versions(1))).rows().get(0).cells())
          .hasSize(cells);
      assertThat(second.aborts).isEmpty();
    }
  }

  @Test
  void noMutationTakesMuchMoreOfAMemtableThanWasReservedForIt() throws Exception {
    long seed = Seeds.one();
    Random random = new Random(seed);
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(SCHEMA);
      for (int round = 0; round < 50; round++) {
        Mutation mutation = random(random);
        hosted.tablet().minorCompact(); // All of them together have no room.
        long before = hosted.tablet().statistics().memtableBytes();
        apply(server, hosted, mutation);
        long taken = hosted.tablet().statistics().memtableBytes() - before;
        assertThat(taken).as("seed %s, round %s", seed, round).isLessThanOrEqualTo(most(mutation));
      }
    }
  }

  /** Few or many edits of all kinds, with keys and values that are short or long. */
  private static Mutation random(Random random) {
    Mutation.Builder mutation =
        Mutation.builder(Bytes.wrap(new byte[1 + random.nextInt(Limits.ROW_BYTES_MAX)]));
    int edits = 1 + random.nextInt(random.nextBoolean() ? 4 : 200);
    for (int i = 0; i < edits; i++) {
      Bytes qualifier = Bytes.of(i + "\0q".repeat(random.nextInt(100)));
      switch (random.nextInt(4)) {
        case 0 -> mutation.deleteColumn("f", qualifier, TimeRange.ALL);
        case 1 -> mutation.deleteFamily("f");
        case 2 -> mutation.put("f", qualifier, Bytes.wrap(new byte[random.nextInt(100_000)]));
        default -> mutation.put("f", qualifier, Bytes.EMPTY);
      }
    }
    return mutation.build();
  }
}
