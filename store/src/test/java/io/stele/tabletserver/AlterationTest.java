package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.tablet.ReadRequest;
import io.stele.wire.control.ControlProtos.RefreshSchemaRequestProto;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When the master may take an alteration for done. */
@Timeout(60)
class AlterationTest {
  private static final RefreshSchemaRequestProto REQUEST =
      RefreshSchemaRequestProto.newBuilder().setName("t").build();

  private final TestServer.World world = new TestServer.World();

  private static TableSchema versions(int count) {
    return TableSchema.of("t", List.of(new ColumnFamily("f", GcPolicy.maxVersions(count))));
  }

  private static AdminService service(TestServer server) {
    LogSorter sorter =
        new LogSorter(
            server.context.runtime(),
            server.fs,
            server.layout,
            server.context.resources().all().iterator().next().memtables());
    return new AdminService(
        server.context,
        server.schemas,
        server.lifecycle,
        server.requested,
        sorter,
        new CompletableFuture<>());
  }

  private static int cells(HostedTablet hosted) throws IOException {
    return hosted.tablet().read(ReadRequest.of(RowQuery.ALL)).rows().get(0).cells().size();
  }

  @Test
  void itIsNotWhileACompactionUnderTheSchemaBeforeIsBeingCommitted() throws Exception {
    try (TestServer server = new TestServer(world)) {
      HostedTablet hosted = server.takeNew(versions(1));
      AdminService service = service(server);
      TestServer.put(hosted, "row", "first");
      TestServer.put(hosted, "row", "second");
      AtomicBoolean altered = new AtomicBoolean();
      world.metadata.before(
          update -> {
            if (altered.compareAndSet(false, true)) {
              server.schemas.alter(
                  server.schemas.table(hosted.id().table()).orElseThrow(), versions(2));
              assertThatThrownBy(() -> service.refreshSchema(null, REQUEST))
                  .isInstanceOfSatisfying(
                      SteleException.class,
                      e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
                  .hasMessageContaining("is committing a compaction");
              assertThat(cells(hosted)).as("seen, and about to go").isEqualTo(2);
            }
          });
      hosted.tablet().minorCompact();
      assertThat(altered).isTrue();
      service.refreshSchema(null, REQUEST);
      assertThat(cells(hosted)).isEqualTo(1);
      TestServer.put(hosted, "row", "third");
      hosted.tablet().minorCompact();
      assertThat(cells(hosted)).isEqualTo(2);
    }
  }
}
