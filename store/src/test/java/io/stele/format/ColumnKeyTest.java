package io.stele.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Column;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ColumnKeyTest {
  private static final Comparator<Named> BY_NAME =
      Comparator.comparing(Named::row)
          .thenComparing(named -> named.column().family())
          .thenComparing(named -> named.column().qualifier());

  private record Named(Bytes row, Column column) {
    byte[] key() {
      return ColumnKey.of(row, column.family(), column.qualifier());
    }
  }

  @Test
  void keysSortAsRowsFamiliesAndQualifiersDo() {
    List<Named> names = someNames();
    List<Named> byKey = new ArrayList<>(names);
    byKey.sort((a, b) -> Arrays.compareUnsigned(a.key(), b.key()));
    names.sort(BY_NAME);
    assertThat(byKey).isEqualTo(names);
  }

  @Test
  void aKeyGivesBackWhatItWasMadeOf() throws MalformedException {
    for (Named named : someNames()) {
      byte[] key = named.key();
      assertThat(ColumnKey.row(key, key.length)).isEqualTo(named.row());
      assertThat(ColumnKey.column(key, key.length)).isEqualTo(named.column());
      byte[] rowPart = ColumnKey.ofRow(named.row());
      assertThat(ColumnKey.rowPartLength(key, key.length)).isEqualTo(rowPart.length);
      assertThat(ColumnKey.sameRow(key, key.length, rowPart, rowPart.length)).isTrue();
      byte[] familyPart = ColumnKey.ofFamily(named.row(), named.column().family());
      assertThat(ColumnKey.familyPartEnd(key, key.length, rowPart.length))
          .isEqualTo(familyPart.length);
    }
  }

  @Test
  void zerosAreFoundWhereverTheyStand() throws MalformedException {
    for (int length = 0; length < 30; length++) {
      for (int first = 0; first <= length; first++) {
        for (int second = first; second <= length; second++) {
          byte[] plain = new byte[length + 1]; // The last byte is not part of the row.
          Arrays.fill(plain, (byte) 0x80);
          plain[first] = 0;
          plain[second] = 0;
          Bytes row = Bytes.of(plain, 0, length);
          byte[] key = ColumnKey.of(row, "f", row);
          assertThat(ColumnKey.rowPartLength(key, key.length))
              .isEqualTo(ColumnKey.ofRow(row).length);
          assertThat(ColumnKey.row(key, key.length)).isEqualTo(row);
          assertThat(ColumnKey.column(key, key.length).qualifier()).isEqualTo(row);
        }
      }
    }
  }

  @Test
  void tombstonesOfRowsAndFamiliesSortRightBeforeWhatTheyCover() {
    List<Named> names = someNames();
    for (Named named : names) {
      byte[] row = ColumnKey.ofRow(named.row());
      byte[] family = ColumnKey.ofFamily(named.row(), named.column().family());
      byte[] after = ColumnKey.afterRow(named.row());
      assertThat(Arrays.compareUnsigned(row, family)).isNegative();
      assertThat(Arrays.compareUnsigned(family, named.key())).isNegative();
      assertThat(Arrays.compareUnsigned(named.key(), after)).isNegative();
      for (Named other : names) {
        byte[] key = other.key();
        boolean inRow =
            Arrays.compareUnsigned(key, row) > 0 && Arrays.compareUnsigned(key, after) < 0;
        assertThat(inRow).isEqualTo(other.row().equals(named.row()));
        assertThat(ColumnKey.sameRow(key, key.length, row, row.length))
            .isEqualTo(other.row().equals(named.row()));
      }
    }
  }

  @Test
  void whatIsNoKeyIsRefused() {
    byte[] endless = {'r', 'o', 'w', 0, (byte) 0xff};
    assertThatThrownBy(() -> ColumnKey.rowPartLength(endless, endless.length))
        .isInstanceOf(MalformedException.class);
    assertThatThrownBy(() -> ColumnKey.rowPartLength(new byte[0], 0))
        .isInstanceOf(MalformedException.class);
    byte[] row = ColumnKey.ofRow(Bytes.of("row"));
    assertThatThrownBy(() -> ColumnKey.column(row, row.length))
        .isInstanceOf(MalformedException.class);
    byte[] more = Arrays.copyOf(ColumnKey.of(Bytes.of("row"), "f", Bytes.EMPTY), 20);
    assertThatThrownBy(() -> ColumnKey.column(more, more.length))
        .isInstanceOf(MalformedException.class);
  }

  @Test
  void anyBytesAreReadOrRefusedButNeverCrash() {
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      byte[] key = new byte[random.nextInt(24)];
      for (int j = 0; j < key.length; j++) {
        key[j] = (byte) (random.nextInt(3) == 0 ? random.nextInt() : 0);
      }
      try {
        Bytes row = ColumnKey.row(key, key.length);
        assertThat(row.length()).isLessThan(key.length);
        ColumnKey.column(key, key.length);
      } catch (MalformedException e) {
        assertThat(e).hasMessageContaining("at byte");
      }
    }
  }

  private static List<Named> someNames() {
    List<Bytes> parts =
        List.of(
            Bytes.EMPTY,
            Bytes.of("a"),
            Bytes.of("a\0"),
            Bytes.of("a\0\0"),
            Bytes.of("a\0b"),
            Bytes.of("a\1"),
            Bytes.of("aa"),
            Bytes.of("b"),
            Bytes.of("\0"),
            Bytes.of("\0\0"),
            Bytes.wrap(new byte[] {0, (byte) 0xff}),
            Bytes.wrap(new byte[] {(byte) 0xff}),
            Bytes.wrap(new byte[] {(byte) 0xff, 0}));
    List<Named> names = new ArrayList<>();
    for (Bytes row : parts) {
      for (String family : List.of("f", "ff", "g")) {
        for (Bytes qualifier : parts) {
          if (!row.isEmpty()) {
            names.add(new Named(row, new Column(family, qualifier)));
          }
        }
      }
    }
    return names;
  }
}
