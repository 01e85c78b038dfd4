package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.record.FileRef;
import io.stele.record.ManifestEdit;
import io.stele.record.PendingReplacement;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ColumnNamesTest {
  private static final ServerId SERVER = new ServerId("one", 9000, 1);

  private final RecordsFixture fixture = new RecordsFixture();
  private final TabletRecords records = fixture.records;

  private static Bytes row(String letter, int length) {
    return Bytes.of(letter.repeat(length));
  }

  private static FileRef file(Bytes start) {
    return FileRef.builder("tables/t1/a/1.sst", 10, RowRange.from(start))
        .sequences(1, 2)
        .families(List.of("f"))
        .build();
  }

  private static ManifestEdit.Builder edit(String what) {
    return ManifestEdit.builder(what).reach(5, 5);
  }

  private static Bytes name(Bytes start) {
    return ColumnNames.of(file(start)).qualifier();
  }

  /** What a version writes, the next must find. */
  @Test
  void theNamesAreThoseOfTheFormat() {
    assertThat(name(Bytes.EMPTY)).isEqualTo(Bytes.of("tables/t1/a/1.sst"));
    assertThat(name(row("a", 1024))).isEqualTo(Bytes.of("tables/t1/a/1.sst;" + "a".repeat(1024)));
    assertThat(name(row("a", 1025)))
        .isEqualTo(
            Bytes.of(
                "tables/t1/a/1.sst#"
                    + "4a82297889eb505cf6b5cbdf69977afab4632d6557539782f657bd7dc78091a5"));
    assertThat(ColumnNames.of(new PendingReplacement("job", RowRange.ALL)).qualifier())
        .isEqualTo(Bytes.of("job;"));
    assertThat(
            ColumnNames.of(new PendingReplacement("job", RowRange.from(row("a", 1025))))
                .qualifier())
        .isEqualTo(
            Bytes.of("job#4a82297889eb505cf6b5cbdf69977afab4632d6557539782f657bd7dc78091a5"));
  }

  @Test
  void partsOfAFileWithLongFirstRowsAreToldApart() throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), SERVER));
    FileRef one = file(row("a", Limits.ROW_BYTES_MAX));
    FileRef other = file(row("a", Limits.ROW_BYTES_MAX - 1));
    TabletRecord both = records.edit(loaded, edit("two parts").add(List.of(one, other)).build());
    assertThat(fixture.only().files()).containsExactlyInAnyOrder(one, other);
    records.edit(both, edit("one goes").remove(List.of(one)).build());
    assertThat(fixture.only().files()).containsExactly(other);
  }

  /** Versions before had the row itself in the name, however long. */
  @Test
  void whatHasAFormerNameIsRemovedUnderThat() throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), SERVER));
    FileRef file = file(row("a", 2_000));
    PendingReplacement replaced = new PendingReplacement("job", RowRange.from(row("b", 3_000)));
    Column named = ColumnNames.former(file);
    Column waiting = ColumnNames.former(replaced);
    fixture.metadata.apply(
        Mutation.builder(loaded.row())
            .put(named.family(), named.qualifier(), FileCodec.encode(file))
            .put(waiting.family(), waiting.qualifier(), PendingCodec.encode(replaced))
            .build());
    TabletRecord read = fixture.only();
    assertThat(read.files()).containsExactly(file);
    assertThat(read.pending()).containsExactly(replaced);
    assertThat(read.formerNames()).containsExactlyInAnyOrder(named, waiting);

    FileRef part = file.clipped(RowRange.until(row("c", 2_000)));
    TabletRecord clipped =
        records.edit(read, edit("clipped").remove(List.of(file)).add(List.of(part)).build());
    assertThat(fixture.only().files()).containsExactly(part);
    records.edit(clipped, edit("resolved").resolve("job").build());
    assertThat(fixture.only().pending()).isEmpty();
    assertThat(fixture.only().formerNames()).isEmpty();
  }

  @Test
  void aSplitRemovesFormerNames() throws IOException {
    TabletRecord loaded = records.loaded(records.assign(fixture.only(), SERVER));
    FileRef file = file(row("a", 2_000));
    Column named = ColumnNames.former(file);
    fixture.metadata.apply(
        Mutation.builder(loaded.row())
            .put(named.family(), named.qualifier(), FileCodec.encode(file))
            .build());
    fixture.split(fixture.only(), "m", 1);
    List<TabletRecord> halves = records.reader().readAll(RecordsFixture.TABLE);
    assertThat(halves).hasSize(2).allMatch(half -> half.files().size() == 1);
    assertThat(halves).allMatch(half -> half.formerNames().isEmpty());
  }
}
