package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.MemoryPlan;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.runtime.MemoryRoom;
import io.stele.sim.FaultInjector;
import io.stele.sim.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

/** Compactions of more locality groups than they write at once. */
class ManyGroupsTest {
  private static final int GROUPS = 2 * MemoryPlan.MINOR_GROUPS + 1;
  private static final TableSchema APART = schema(true);

  private final TabletFixture fixture = new TabletFixture(APART);
  private int mostAtOnce;

  ManyGroupsTest() throws IOException {
    fixture.fs.disk().inject((operation, path) -> countFiles(operation));
  }

  private static TableSchema schema(boolean apart) {
    List<ColumnFamily> families = new ArrayList<>();
    List<LocalityGroup> groups = new ArrayList<>();
    for (int i = 0; i < GROUPS; i++) {
      families.add(new ColumnFamily(family(i), GcPolicy.maxVersions(1), "g" + (apart ? i : 0)));
      groups.add(LocalityGroup.of("g" + i));
    }
    return TableSchema.of("t", families, groups.toArray(LocalityGroup[]::new));
  }

  private static String family(int group) {
    return "f" + group;
  }

  private Optional<FaultInjector.Effect> countFiles(Operation operation) {
    if (operation == Operation.WRITE) {
      long open =
          fixture.fs.disk().openForWriting().stream().filter(ManyGroupsTest::isTable).count();
      mostAtOnce = Math.max(mostAtOnce, (int) open);
    }
    return Optional.empty();
  }

  private static boolean isTable(Path path) {
    return path.getName().endsWith(".sst");
  }

  private void alter(TableSchema schema) {
    fixture.tablet.alter(schema);
    fixture.manifest.alter(schema);
  }

  /** Rows with a value in every group, of which every third is deleted as a whole. */
  private void fill(String version) {
    for (int i = 0; i < 30; i++) {
      for (int group = 0; group < GROUPS; group++) {
        fixture.put("r" + i, family(group), "q", 1, version);
      }
      if (i % 3 == 0) {
        fixture.apply(Mutation.of("r" + i).deleteRow()).join();
        fixture.put("r" + i, family(i % GROUPS), "q", 1, version + " again");
      }
    }
  }

  private long tables() {
    return fixture.fs.disk().files().stream().filter(ManyGroupsTest::isTable).count();
  }

  private long filesWithOperations() throws IOException {
    long count = 0;
    for (FileRef ref : fixture.manifest.record().files()) {
      TabletFile file = TabletFile.open(fixture.environment(), ref, new SchemaRules(APART));
      if (file.table().metaBlock(OperationsBlock.NAME).isPresent()) {
        count++;
      }
      file.release();
    }
    return count;
  }

  @Test
  void aMinorCompactionWritesFewFilesAtATimeAndAllCells() throws IOException {
    fill("old");
    fixture.tablet.minorCompact();
    assertThat(fixture.manifest.record().files()).hasSize(GROUPS);
    fill("new"); // Now the tombstones are kept, in files of all groups.
    List<String> before = fixture.rows();
    fixture.tablet.minorCompact();
    assertThat(mostAtOnce).isEqualTo(MemoryPlan.MINOR_GROUPS);
    assertThat(fixture.manifest.record().files()).hasSize(2 * GROUPS);
    assertThat(tables()).isEqualTo(2 * GROUPS);
    assertThat(before).hasSize(30).contains("r0 f0:q@1=new again");
    assertThat(fixture.rows()).isEqualTo(before);
    fixture.reopen(List.of());
    assertThat(fixture.rows()).isEqualTo(before);
    fixture.tablet.majorCompact();
    assertThat(fixture.manifest.record().files()).hasSize(GROUPS);
    assertThat(fixture.rows()).isEqualTo(before);
  }

  @Test
  void aTombstoneOfARowGoesToEveryGroupThoughNothingElseWasWritten() throws IOException {
    fill("v");
    fixture.tablet.minorCompact();
    fixture.apply(Mutation.of("r1").deleteRow()).join();
    fixture.tablet.minorCompact();
    assertThat(fixture.manifest.record().files()).hasSize(2 * GROUPS);
    assertThat(fixture.rows()).hasSize(29).noneMatch(row -> row.startsWith("r1 "));
  }

  @Test
  void operationsAreInOneFileAndAnEmptyGroupHasNone() throws IOException {
    OperationId id = new OperationId(1, 1, 1);
    Mutation mutation = Mutation.of("a").put(family(0), Bytes.of("q"), 1, Bytes.of("v"));
    fixture.tablet.apply(OperationRequest.of(mutation, id, 1)).join();
    for (int group = 1; group < GROUPS; group++) {
      fixture.put("a", family(group), "q", 1, "v");
    }
    fixture.apply(Mutation.of("a").deleteFamily(family(1))).join();
    List<String> before = fixture.rows();
    fixture.tablet.minorCompact();
    assertThat(fixture.manifest.record().files())
        .hasSize(GROUPS - 1)
        .noneMatch(file -> file.families().contains(family(1)));
    assertThat(filesWithOperations()).isEqualTo(1);
    fixture.reopen(List.of());
    fixture.put("a", family(0), "q", 1, "later");
    fixture.tablet.apply(OperationRequest.of(mutation, id, 1)).join();
    assertThat(fixture.rows())
        .as("the retry is known")
        .containsExactly(before.get(0).replace("f0:q@1=v", "f0:q@1=later"));
  }

  @Test
  void operationsWithoutCellsHaveAFile() throws IOException {
    OperationId id = new OperationId(1, 1, 1);
    fixture.tablet.apply(OperationRequest.of(Mutation.of("a").deleteRow(), id, 1)).join();
    fixture.tablet.minorCompact();
    assertThat(fixture.manifest.record().files()).hasSize(1);
    assertThat(filesWithOperations()).isEqualTo(1);
  }

  @Test
  void aFailureInALaterRoundLeavesNoFile() throws IOException {
    fill("v");
    List<String> before = fixture.rows();
    for (Operation operation : List.of(Operation.CREATE, Operation.FLUSH, Operation.CLOSE)) {
      for (int nth = 1; nth <= GROUPS; nth++) {
        fixture
            .fs
            .disk()
            .inject(
                FaultInjector.at(
                    operation, ManyGroupsTest::isTable, nth, new FaultInjector.Effect.Fail()));
        assertThatThrownBy(fixture.tablet::minorCompact)
            .as("%s %d", operation, nth)
            .isInstanceOf(IOException.class);
        assertThat(tables()).as("%s %d", operation, nth).isZero();
        assertThat(fixture.fs.openReaders()).isZero();
        assertThat(fixture.tablet.hasAbandonedFiles()).isFalse();
        assertThat(fixture.rows()).isEqualTo(before);
      }
    }
    fixture.tablet.minorCompact();
    assertThat(tables()).isEqualTo(GROUPS);
    assertThat(fixture.rows()).isEqualTo(before);
  }

  @Test
  void aRewriteIntoOtherGroupsReadsItsFilesOnceForEach() throws IOException {
    AtomicLong passed = new AtomicLong();
    String value = "v".repeat(600_000); // Large enough that memory is asked for.
    fixture.largeBlocks = new MemoryRoom("large blocks", 5L * value.length());
    fixture.pace = passed::addAndGet;
    fixture.reopen(List.of());
    alter(schema(false));
    for (int i = 0; i < 3; i++) {
      fixture.put("r" + i, family(0), "q", 1, value);
      fixture.put("r" + i, family(2), "q", 1, "small");
      fixture.put("r" + i, family(3), "q", 1, "small");
      fixture.tablet.minorCompact();
    }
    fixture.apply(Mutation.of("r1").deleteRow()).join();
    fixture.tablet.minorCompact();
    assertThat(fixture.manifest.record().files()).hasSize(4);
    List<String> before = fixture.rows();
    alter(APART);
    mostAtOnce = 0;
    try (MemoryRoom.Share other = fixture.largeBlocks.open()) {
      other.take(value.length()); // Each round takes no more than the one before.
      fixture.tablet.majorCompact();
    }
    assertThat(mostAtOnce).isEqualTo(MemoryPlan.REWRITE_GROUPS);
    assertThat(fixture.manifest.record().files()).as("of the groups with cells alone").hasSize(3);
    assertThat(passed.get() / value.length()).isEqualTo(3 * 3);
    assertThat(fixture.largeBlocks.bytes()).isZero();
    assertThat(fixture.rows()).isEqualTo(before).hasSize(2);
  }

  @Test
  void aRewriteThatIsToEndInALaterRoundLeavesNoFile() throws IOException {
    alter(schema(false));
    for (int i = 0; i < 10; i++) {
      fixture.put("r" + i, family(0), "q", 1, "x".repeat(300_000));
      fixture.put("r" + i, family(1), "q", 1, "y");
    }
    fixture.tablet.minorCompact();
    fixture.tablet.close();
    AtomicLong passed = new AtomicLong();
    fixture.pace =
        bytes -> {
          if (passed.addAndGet(bytes) > 4_000_000) {
            fixture.tablet.abortRewrites(); // In the second round.
          }
        };
    fixture.reopen(List.of());
    alter(APART);
    assertThatThrownBy(fixture.tablet::majorCompact).isInstanceOf(SteleException.class);
    assertThat(tables()).isEqualTo(1);
    assertThat(fixture.tablet.hasAbandonedFiles()).isFalse();
    assertThat(fixture.rows()).hasSize(10);
  }
}
