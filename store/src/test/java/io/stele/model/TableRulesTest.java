package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class TableRulesTest {
  private static final TableSchema SCHEMA = TableSchema.of("t", "f");

  private static void refused(ThrowingCallable what, String message) {
    SteleException refusal = catchThrowableOfType(SteleException.class, what);
    assertThat(refusal).as("not refused: %s", message).isNotNull().hasMessage(message);
    assertThat(refusal.code()).isEqualTo(SteleException.Code.REFUSED);
  }

  private static void splitAt(String message, Bytes... rows) {
    refused(() -> TableRules.checkNew(SCHEMA, List.of(rows)), message);
  }

  @Test
  void tablesThatCanBeMadeAndChangedPass() {
    Bytes longest = Bytes.wrap(new byte[Limits.SPLIT_ROW_BYTES_MAX]);
    assertThatCode(() -> TableRules.checkNew(SCHEMA, List.of(longest, Bytes.of("a"))))
        .doesNotThrowAnyException();
    assertThatCode(() -> TableRules.checkChange(SCHEMA, TableSchema.of("t", "g")))
        .doesNotThrowAnyException();
  }

  @Test
  void namesOfStelesOwnTablesAreKept() {
    String message =
        "names that begin with \"stele.\" are reserved for Stele, so stele.x cannot be created,"
            + " altered or dropped: choose another name";
    TableSchema own = TableSchema.of("stele.x", "f");
    refused(() -> TableRules.checkNew(own, List.of()), message);
    refused(() -> TableRules.checkChange(own, own), message);
    refused(() -> TableRules.checkNotReserved("stele.x"), message);
  }

  @Test
  void theRowsATableIsCutAtAscend() {
    splitAt(
        "the split rows of table t must be ascending and not empty: \"\" comes after \"\"",
        Bytes.EMPTY);
    splitAt(
        "the split rows of table t must be ascending and not empty: \"b\" comes after \"b\"",
        Bytes.of("b"),
        Bytes.of("b"));
    splitAt(
        "the split rows of table t must be ascending and not empty: \"a\" comes after \"b\"",
        Bytes.of("b"),
        Bytes.of("a"));
    splitAt(
        "table t cannot be split at a row of 65473 bytes: the limit is 65472",
        Bytes.wrap(new byte[Limits.SPLIT_ROW_BYTES_MAX + 1]));
    refused(
        () -> TableRules.checkNew(SCHEMA, Collections.nCopies(10_001, Bytes.of("a"))),
        "table t cannot be created with 10001 split rows: the limit is 10000");
  }

  @Test
  void aTableKeepsItsName() {
    refused(
        () -> TableRules.checkChange(SCHEMA, TableSchema.of("u", "f")),
        "table t cannot be renamed to u");
  }

  @Test
  void schemasThatMakeNoSenseAreRefused() {
    refused(
        () -> TableSchema.of("a b", "f"),
        "\"a b\" cannot name a table: a name is 1 to 128 letters, digits, '_', '-' and '.'");
    refused(() -> TableSchema.of("t"), "table t has no family: give it at least one");
    refused(() -> TableSchema.of("t", "f", "f"), "table t has the family f twice: remove one");
    LocalityGroup group = LocalityGroup.of("g");
    List<ColumnFamily> families = List.of(ColumnFamily.of("f"));
    refused(
        () -> TableSchema.of("t", families, group, group),
        "table t has the locality group g twice: remove one");
    refused(
        () -> TableSchema.of("t", List.of(ColumnFamily.of("f").in("g"))),
        "family f of table t is in locality group g, which the table does not have");
    refused(
        () -> SCHEMA.withSplitBytes(4095),
        "the split size of table t must be at least 4 KiB, not 4095 bytes");
    refused(
        () -> SCHEMA.withBlockBytes(1023),
        "the block size of locality group default must be 1 KiB to 16 MiB, not 1023 bytes");
    refused(
        () ->
            TableSchema.of(
                "t", IntStream.range(0, 257).mapToObj(i -> "f" + i).toArray(String[]::new)),
        "table t has 257 families: the limit is 256");
    LocalityGroup[] groups =
        IntStream.range(0, 65)
            .mapToObj(i -> LocalityGroup.of("g" + i))
            .toArray(LocalityGroup[]::new);
    refused(
        () -> TableSchema.of("t", List.of(ColumnFamily.of("f").in("g0")), groups),
        "table t has 65 locality groups: the limit is 64");
  }

  @Test
  void policiesThatMakeNoSenseAreRefused() {
    refused(() -> GcPolicy.maxVersions(0), "a policy must keep at least 1 version, not 0");
    refused(
        () -> GcPolicy.maxAge(Duration.ZERO),
        "a policy's maximum age must be above zero, not PT0S");
    refused(
        () -> new GcPolicy.Intersection(List.of()), "an intersection needs at least one policy");
    refused(
        () -> new GcPolicy.Union(List.of(GcPolicy.maxVersions(1), GcPolicy.maxVersions(2))),
        "a policy may set the number of versions only once: [MaxVersions[count=1],"
            + " MaxVersions[count=2]]");
    GcPolicy deep = new GcPolicy.KeepAll();
    for (int i = 1; i < Limits.POLICY_PARTS_MAX; i++) {
      deep = new GcPolicy.Union(List.of(deep));
    }
    GcPolicy deepest = deep;
    refused(
        () -> new GcPolicy.Intersection(List.of(deepest)),
        "a policy has 33 parts: the limit is 32");
  }

  @Test
  void aFamilyThatATableDoesNotHaveIsNamed() {
    SteleException refusal =
        catchThrowableOfType(SteleException.class, () -> SCHEMA.requireFamily("nope"));
    assertThat(refusal).hasMessage("table t has no family \"nope\": it has f");
    assertThat(refusal.code()).isEqualTo(SteleException.Code.NOT_FOUND);
    assertThat(SCHEMA.requireFamily("f")).isEqualTo(ColumnFamily.of("f"));
  }
}
