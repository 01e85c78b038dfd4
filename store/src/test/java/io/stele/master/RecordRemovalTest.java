package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.master.ChangeRequest.Drop;
import io.stele.metadata.EndedChange;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecordRemovalTest {
  private static final ServerId A = new ServerId("a", 1, 1);

  private final MasterFixture master = new MasterFixture();

  private TableId table(String name, int tablets) throws IOException {
    Bytes[] splitRows =
        IntStream.range(1, tablets)
            .mapToObj(number -> Bytes.of(String.format("%06d", number)))
            .toArray(Bytes[]::new);
    return master.table(name, splitRows);
  }

  private void carryOnFor(Duration time) throws Exception {
    long endNanos = master.process.nanoTime() + time.toNanos();
    while (master.process.nanoTime() - endNanos < 0 && master.changes.advance(table -> true)) {
      master.sleep(Duration.ofMillis(50));
    }
  }

  private EndedChange ended(String id) throws IOException {
    TableAdmin.Answer answer = master.ask(id, new Drop("users"));
    assertThat(answer).isInstanceOf(TableAdmin.Answer.Ended.class);
    return ((TableAdmin.Answer.Ended) answer).change();
  }

  private List<String> damage(TableId table) throws IOException {
    List<String> damage = new ArrayList<>();
    assertThat(master.records.reader().readUndamaged(table, damage::add)).isEmpty();
    return damage;
  }

  @Test
  void waitingForOneTabletReadsTheOthersOnce() throws Exception {
    master.run(
        () -> {
          TableId table = table("users", 2000);
          List<TabletRecord> all = master.records.reader().readAll(table);
          TabletRecord last =
              master.records.loaded(master.records.assign(all.get(all.size() - 1), A));
          int before = master.reads();
          master.drop("users");
          carryOnFor(Duration.ofSeconds(10));
          assertThat(master.reads() - before).isLessThan(150);
          assertThat(master.records.reader().readAll(table)).hasSize(2000);
          master.records.release(last, "test");
          master.carryOn();
          assertThat(master.schemas.list().tables()).isEmpty();
          assertThat(master.records.reader().readAll(table)).isEmpty();
        });
  }

  @Test
  void aTabletThatIsAssignedLateIsWaitedForToo() throws Exception {
    master.run(
        () -> {
          TableId table = table("users", 3);
          List<TabletRecord> all = master.records.reader().readAll(table);
          TabletRecord last = master.records.assign(all.get(2), A);
          master.drop("users");
          carryOnFor(Duration.ofSeconds(1));
          TabletRecord first = master.records.assign(all.get(0), A);
          master.records.release(last, "test");
          carryOnFor(Duration.ofSeconds(1));
          assertThat(master.records.reader().readAll(table)).contains(first);
          assertThat(master.changes.dropping()).containsExactly(table);
          master.records.release(first, "test");
          master.carryOn();
          assertThat(master.schemas.list().tables()).isEmpty();
          assertThat(master.records.reader().readAll(table)).isEmpty();
        });
  }

  @Test
  void dropsThatTakeLongDoNotHoldUpOtherChanges() throws Exception {
    master.run(
        () -> {
          for (int i = 0; i < 8; i++) {
            table("users" + i, 100);
          }
          master.memory.before(
              update -> {
                try {
                  master.process.sleep(Duration.ofMillis(100));
                } catch (InterruptedException e) {
                  throw new InterruptedIOException();
                }
              });
          for (int i = 0; i < 8; i++) {
            master.drop("users" + i);
          }
          carryOnFor(Duration.ofMillis(200)); // All threads are at work.
          master.create("other", "other");
          carryOnFor(Duration.ofSeconds(5));
          assertThat(master.schemas.byName("other")).isPresent();
          assertThat(master.changes.dropping()).hasSize(8);
          carryOnFor(Duration.ofMinutes(2));
          assertThat(master.schemas.list().tables())
              .extracting(table -> table.schema().name())
              .containsExactly("other");
        });
  }

  @Test
  void aDamagedRecordEndsTheDropAndIsKeptUntilItIsRepaired() throws Exception {
    master.run(
        () -> {
          TableId table = table("users", 3);
          TabletRecord damaged = master.records.reader().readAll(table).get(1);
          master.memory.damage(damaged.row());
          master.ask("gone", new Drop("users"));
          master.carryOn();
          EndedChange.Failure failure = ended("gone").failure().orElseThrow();
          assertThat(failure.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN);
          assertThat(failure.message()).contains("1 of its records").contains("stele check");
          assertThat(damage(table)).hasSize(1);
          assertThat(master.schemas.table(table).orElseThrow().state())
              .isEqualTo(StoredTable.State.DROPPING);
          assertThat(master.create("again", "users"))
              .as("the name is free")
              .isInstanceOf(TableAdmin.Answer.Running.class);
          master.carryOn();

          master.changes.resume();
          master.carryOn();
          assertThat(master.changes.advance(any -> true)).as("it does not keep busy").isFalse();
          assertThat(damage(table)).hasSize(1);

          master.memory.put(damaged);
          master.changes.resume();
          master.carryOn();
          assertThat(master.schemas.table(table)).isEmpty();
          assertThat(master.records.reader().readAll(table)).isEmpty();
        });
  }
}
