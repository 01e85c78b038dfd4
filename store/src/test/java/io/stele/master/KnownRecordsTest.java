package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Seeds;
import io.stele.lock.LockService;
import io.stele.metadata.Assignment;
import io.stele.metadata.MemoryRecords;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.sim.MemoryLockStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class KnownRecordsTest {
  private static final List<ServerId> SERVERS =
      List.of(new ServerId("a", 1, 1), new ServerId("b", 1, 1), new ServerId("c", 1, 1));
  private static final int TABLES = 4;
  private static final int ROWS = 12;

  private final MasterFixture master = new MasterFixture();
  private final LockService locks = new MemoryLockStore().connect();
  private final MemoryRecords memory = new MemoryRecords(master.process, locks);
  private final KnownRecords known = new KnownRecords();

  /** What is known, found by looking at everything. */
  private final Map<Bytes, TabletRecord> all = new TreeMap<>();

  private Set<TableId> hidden = Set.of();

  private static TableId table(int number) {
    return new TableId("t" + number);
  }

  private static Bytes end(int row) {
    return Bytes.of(String.format("%02d", row));
  }

  /** A record of the tablet that ends at a row, in any state. */
  private TabletRecord any(Random random) {
    TableId table = table(random.nextInt(TABLES));
    int row = 1 + random.nextInt(ROWS);
    TabletId id = new TabletId(table, String.format("%016x", random.nextInt(3) + 10 * row));
    TabletRecord fresh = memory.fresh(id, new RowRange(end(row - 1), end(row)));
    ServerId server = SERVERS.get(random.nextInt(SERVERS.size()));
    return switch (random.nextInt(4)) {
      case 0 -> fresh;
      case 1 -> with(fresh, fresh.assignment().assignedTo(server));
      default -> with(fresh, fresh.assignment().assignedTo(server).loaded());
    };
  }

  static TabletRecord with(TabletRecord record, Assignment assignment) {
    return record.toBuilder().stored(assignment, Bytes.of(assignment.toString())).build();
  }

  private List<TabletRecord> visible() {
    return all.values().stream().filter(one -> !hidden.contains(one.id().table())).toList();
  }

  @Test
  void whatIsFollowedIsWhatALookAtEverythingFinds() {
    long seed = Seeds.one();
    Random random = new Random(seed);
    for (int step = 0; step < 3000; step++) {
      change(random);
      assertThat(known.byId().values())
          .as("seed %s, step %s", seed, step)
          .containsExactlyInAnyOrderElementsOf(visible());
      Set<TableId> tables = new TreeSet<>();
      all.values().forEach(record -> tables.add(record.id().table()));
      assertThat(known.tables()).isEqualTo(tables);
      Set<ServerId> live = new TreeSet<>(SERVERS.subList(0, random.nextInt(3)));
      Set<TableId> dropping = random.nextBoolean() ? Set.of() : Set.of(table(random.nextInt(2)));
      assertThat(known.open(live, dropping, List.of()).values())
          .as("seed %s, step %s", seed, step)
          .containsExactlyInAnyOrderElementsOf(
              visible().stream()
                  .filter(
                      one ->
                          one.location().filter(at -> live.contains(at.server())).isEmpty()
                              || dropping.contains(one.id().table()))
                  .toList());
      for (ServerId server : SERVERS) {
        assertThat(known.on(server))
            .containsExactlyInAnyOrderElementsOf(
                visible().stream().filter(one -> one.assignment().isTo(server)).toList());
      }
    }
  }

  private void change(Random random) {
    switch (random.nextInt(10)) {
      case 0 -> {
        Bytes row = any(random).row();
        known.remove(row);
        all.remove(row);
      }
      case 1 -> {
        hidden = random.nextBoolean() ? Set.of() : Set.of(table(random.nextInt(TABLES)));
        known.hide(hidden);
      }
      case 2 -> {
        TableId table = table(random.nextInt(TABLES));
        RowRange rows = MetadataKeys.table(table);
        Map<Bytes, TabletRecord> now = new TreeMap<>();
        for (int i = random.nextInt(ROWS); i > 0; i--) {
          TabletRecord record = any(random);
          if (record.id().table().equals(table)) {
            now.put(record.row(), record);
          }
        }
        known.replace(rows, new ArrayList<>(now.values()));
        all.keySet().removeIf(rows::contains);
        all.putAll(now);
      }
      default -> {
        TabletRecord record = any(random);
        known.put(record);
        all.put(record.row(), record);
      }
    }
  }

  @Test
  void ofManyTabletsThatAreServedNoneIsLookedAt() {
    List<ServerId> servers = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      servers.add(new ServerId("s" + i, 1, 1));
    }
    TableId table = table(0);
    TabletRecord idle = memory.fresh(new TabletId(table, "f".repeat(16)), RowRange.of("z", ""));
    known.put(idle);
    for (int i = 0; i < 200_000; i++) {
      Bytes end = Bytes.of(String.format("%06d", i));
      TabletRecord fresh =
          memory.fresh(new TabletId(table, String.format("%016x", i)), new RowRange(end, end));
      known.put(
          with(fresh, fresh.assignment().assignedTo(servers.get(i % servers.size())).loaded()));
    }
    known.takeChanged();
    Set<ServerId> live = new TreeSet<>(servers);
    assertThat(known.open(live, Set.of(), List.of()).keySet()).containsExactly(idle.id());
    assertThat(known.takeChanged()).isEmpty();
    live.remove(servers.get(7));
    assertThat(known.open(live, Set.of(), List.of())).hasSize(201);
  }
}
