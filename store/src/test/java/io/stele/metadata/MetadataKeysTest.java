package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.TableId;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class MetadataKeysTest {
  private static final TableId T1 = new TableId("t1");
  private static final TableId T10 = new TableId("t10");

  @Test
  void theTabletWithARowIsTheFirstAtOrAboveItsLookupKey() {
    TreeSet<Bytes> rows = new TreeSet<>();
    for (String end : List.of("b", "m", "")) {
      rows.add(MetadataKeys.row(T1, Bytes.of(end)));
      rows.add(MetadataKeys.row(T10, Bytes.of(end)));
    }
    assertThat(first(rows, "")).isEqualTo(MetadataKeys.row(T1, Bytes.of("b")));
    assertThat(first(rows, "a\uffff")).isEqualTo(MetadataKeys.row(T1, Bytes.of("b")));
    assertThat(first(rows, "b")).isEqualTo(MetadataKeys.row(T1, Bytes.of("m")));
    assertThat(first(rows, "lz")).isEqualTo(MetadataKeys.row(T1, Bytes.of("m")));
    assertThat(first(rows, "m")).isEqualTo(MetadataKeys.row(T1, Bytes.EMPTY));
    assertThat(first(rows, "z")).isEqualTo(MetadataKeys.row(T1, Bytes.EMPTY));
  }

  @Test
  void theRowsOfATableAreItsOwnOnly() {
    for (String end : List.of("a", "\u0000", "")) {
      Bytes row = MetadataKeys.row(T1, Bytes.of(end));
      assertThat(MetadataKeys.table(T1).contains(row)).isTrue();
      assertThat(MetadataKeys.table(T10).contains(row)).isFalse();
    }
  }

  @Test
  void endRowsOfAnyBytesKeepTheirOrder() {
    Bytes low = Bytes.wrap(new byte[] {0});
    Bytes high = Bytes.wrap(new byte[] {(byte) 0xff, (byte) 0xff});
    assertThat(MetadataKeys.row(T1, low)).isLessThan(MetadataKeys.row(T1, high));
    assertThat(MetadataKeys.row(T1, high)).isLessThan(MetadataKeys.row(T1, Bytes.EMPTY));
  }

  private static Bytes first(TreeSet<Bytes> rows, String row) {
    return rows.ceiling(MetadataKeys.lookup(T1, Bytes.of(row)));
  }
}
