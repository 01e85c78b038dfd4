package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.RowRange;
import io.stele.runtime.SharedResources;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenSSTablesTest {
  private static final List<TestCell> CELLS = List.of(TestCell.put("row", "q", 1, "value"));

  @TempDir private Path directory;
  private ArrayFileSystem fs;
  private OpenSSTables tables;

  @BeforeEach
  void write() throws IOException {
    fs =
        new ArrayFileSystem(
            SSTableFiles.bytes(directory, SSTableOptions.DEFAULT, SSTableFiles.FILE_ID, CELLS));
    tables = new OpenSSTables(SystemRuntime.INSTANCE, fs, NoBlockCache.INSTANCE);
  }

  private SharedResources.Share<SSTable> open() throws IOException {
    return tables.open(SSTableFiles.ANYWHERE, fs.contents.length, FileCaching.NORMAL);
  }

  private static List<TestCell> cells(SharedResources.Share<SSTable> share) throws IOException {
    return SSTableFiles.scan(share.resource(), RowRange.ALL, ReadOptions.SCAN);
  }

  @Test
  void aFileIsOpenedOnceAndClosedWithItsLastShare() throws IOException {
    SharedResources.Share<SSTable> first = open();
    int reads = fs.reads;
    SharedResources.Share<SSTable> second = open();
    assertThat(fs.reads).isEqualTo(reads);
    assertThat(second.resource()).isSameAs(first.resource());
    assertThat(tables.count()).isEqualTo(1);
    first.close();
    first.close(); // Takes nothing from the other.
    assertThat(cells(second)).isEqualTo(CELLS);
    second.close();
    assertThatThrownBy(() -> cells(second)).isInstanceOf(IOException.class);
    assertThat(tables.count()).isZero();
    try (SharedResources.Share<SSTable> again = open()) {
      assertThat(cells(again)).isEqualTo(CELLS);
    }
  }

  @Test
  void whoStatesAWrongLengthIsRefusedThoughOthersHaveTheFileOpen() throws IOException {
    try (SharedResources.Share<SSTable> right = open()) {
      assertThatThrownBy(
              () -> tables.open(SSTableFiles.ANYWHERE, fs.contents.length - 1, FileCaching.NORMAL))
          .isInstanceOf(IOException.class);
      assertThat(cells(right)).isEqualTo(CELLS);
    }
  }
}
