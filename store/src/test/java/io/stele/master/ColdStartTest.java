package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.lock.Lock;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A master that begins when no server is there yet, and servers that come one after another. */
class ColdStartTest {
  private final MasterFixture master = new MasterFixture();

  private static ServerId server(String host, long run) {
    return new ServerId(host, 1, run);
  }

  /** A table of four tablets, which servers on the hosts a and b had, and gave back. */
  private TableId stopped() throws Exception {
    master.bootstrap();
    TableId table = master.table("t", Bytes.of("b"), Bytes.of("c"), Bytes.of("d"));
    List<TabletRecord> tablets = master.records.reader().readAll(table);
    for (int i = 0; i < tablets.size(); i++) {
      TabletRecord assigned =
          master.records.assign(tablets.get(i), server(i % 2 == 0 ? "a" : "b", 1));
      master.records.unloaded(master.records.loaded(assigned), "unloaded");
    }
    return table;
  }

  private Map<Bytes, String> places(TableId table) throws Exception {
    return master.records.reader().readAll(table).stream()
        .filter(record -> record.assignment().server().isPresent())
        .collect(
            Collectors.toMap(
                record -> record.extent().end(),
                record -> record.assignment().server().orElseThrow().host()));
  }

  private void stepFor(Duration time) throws Exception {
    for (long i = 0; i < time.toMillis() / 100; i++) {
      master.loop.step();
      master.sleep(Duration.ofMillis(100));
    }
  }

  @Test
  void tabletsGoBackToTheHostsTheyWereOnThoughOneServerComesFirst() throws Exception {
    master.run(
        () -> {
          TableId table = stopped();
          master.start(server("b", 2));
          stepFor(Duration.ofSeconds(2));
          assertThat(places(table).values()).containsExactly("b", "b");
          master.start(server("a", 2));
          master.signal.rereadAllSoon();
          stepFor(Duration.ofSeconds(2));
          assertThat(places(table))
              .containsEntry(Bytes.of("b"), "a")
              .containsEntry(Bytes.of("c"), "b")
              .containsEntry(Bytes.of("d"), "a")
              .containsEntry(Bytes.EMPTY, "b");
        });
  }

  @Test
  void tabletsOfAHostThatDoesNotComeBackWaitOnlyAFewSeconds() throws Exception {
    master.run(
        () -> {
          TableId table = stopped();
          master.start(server("b", 2));
          stepFor(Duration.ofSeconds(2));
          assertThat(places(table)).hasSize(2);
          stepFor(Duration.ofSeconds(3));
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void whileServersServeTabletsNoneWaits() throws Exception {
    master.run(
        () -> {
          TableId table = stopped();
          master.start(server("b", 2));
          TabletRecord one = master.records.reader().readAll(table).get(0);
          master.records.loaded(master.records.assign(one, server("b", 2)));
          stepFor(Duration.ofSeconds(1));
          assertThat(master.isServed(table)).isTrue();
        });
  }

  @Test
  void noTabletWaitsForAHostWhoseServerCameAndLeft() throws Exception {
    master.run(
        () -> {
          TableId table = stopped();
          Lock left = master.start(server("a", 2));
          master.start(server("b", 2));
          stepFor(Duration.ofMillis(500));
          assertThat(master.isServed(table)).isTrue();
          for (TabletRecord record : master.records.reader().readAll(table)) {
            if (record.assignment().server().orElseThrow().host().equals("a")) {
              master.records.unloaded(record, "unloaded");
            }
          }
          left.release();
          master.signal.rereadAllSoon();
          stepFor(Duration.ofSeconds(1));
          assertThat(places(table)).hasSize(4).containsValue("b").doesNotContainValue("a");
        });
  }
}
