package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.TabletLocation;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TableSpreadTest {
  private final List<ClusterStatus.Server> servers = new ArrayList<>();
  private final List<TableSpread.Place> tablets = new ArrayList<>();

  private ServerId server(int others, boolean draining) {
    ServerId id = ServerId.parse("host" + servers.size() + "_1000_1");
    servers.add(
        new ClusterStatus.Server(id, Optional.empty(), others, 0, 0, Optional.empty(), draining));
    return id;
  }

  private void tablets(int count, Optional<ServerId> on) {
    for (int i = 0; i < count; i++) {
      tablets.add(
          place(new TabletId(new TableId("t1"), String.format("%016x", tablets.size())), on));
    }
  }

  private static TableSpread.Place place(TabletId tablet, Optional<ServerId> on) {
    return new TableSpread.Place(
        tablet, on.map(server -> new TabletLocation(tablet, RowRange.ALL, server, 1)));
  }

  /**
   * How many tablets the servers have after the moves, which must be of tablets that are served.
   */
  private List<Long> after(List<TableSpread.Move> moves) {
    for (TableSpread.Move move : moves) {
      assertThat(move.from().server()).isNotEqualTo(move.to());
      int at =
          tablets.indexOf(new TableSpread.Place(move.from().tablet(), Optional.of(move.from())));
      tablets.set(at, place(move.from().tablet(), Optional.of(move.to())));
    }
    return servers.stream()
        .map(
            server ->
                tablets.stream()
                    .flatMap(tablet -> tablet.at().stream())
                    .filter(at -> at.server().equals(server.id()))
                    .count())
        .toList();
  }

  private List<TableSpread.Move> moves() {
    return TableSpread.moves(tablets, servers);
  }

  @Test
  void tabletsOfOneServerGoToAllByTurns() {
    ServerId first = server(0, false);
    server(0, false);
    server(0, false);
    tablets(9, Optional.of(first));
    List<TableSpread.Move> moves = moves();
    assertThat(moves).hasSize(6);
    assertThat(IntStream.range(0, 5))
        .allMatch(i -> !moves.get(i).to().equals(moves.get(i + 1).to()));
    assertThat(after(moves)).containsExactly(3L, 3L, 3L);
    assertThat(moves()).as("asked again").isEmpty();
  }

  @Test
  void aTableThatIsEvenStaysAsItIs() {
    ServerId first = server(50, false);
    ServerId second = server(0, false);
    tablets(3, Optional.of(first));
    tablets(2, Optional.of(second));
    assertThat(moves()).isEmpty();
  }

  @Test
  void fewTabletsGoToTheServersWithTheFewestInAll() {
    ServerId first = server(0, false);
    server(9, false);
    server(1, false);
    server(2, false);
    tablets(3, Optional.of(first));
    assertThat(after(moves())).containsExactly(1L, 0L, 1L, 1L);
  }

  @Test
  void drainingServersGetNone() {
    ServerId first = server(0, false);
    server(0, true);
    server(0, false);
    tablets(4, Optional.of(first));
    assertThat(after(moves())).containsExactly(2L, 0L, 2L);
    servers.removeIf(server -> !server.draining());
    assertThat(moves()).as("no server takes tablets").isEmpty();
  }

  @Test
  void tabletsOnTheirWayCountButAreNotMoved() {
    ServerId first = server(0, false);
    server(0, false);
    tablets(4, Optional.of(first));
    tablets(2, Optional.empty());
    assertThat(after(moves())).containsExactly(3L, 1L);
  }
}
