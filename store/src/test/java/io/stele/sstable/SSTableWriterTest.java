package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.CellType;
import io.stele.format.OneCell;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.RowRange;
import io.stele.sim.CrashableFileSystem;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SSTableWriterTest {
  @TempDir java.nio.file.Path directory;

  private java.nio.file.Path file;
  private Path path;

  @BeforeEach
  void aPath() {
    file = directory.resolve("1-1.sst");
    path = new Path(file.toUri().getPath());
  }

  @Test
  void cellsOutOfOrderAreRefused() throws IOException {
    TestCell first = TestCell.put("row", "b", 5, "");
    List<TestCell> refused =
        List.of(
            first,
            TestCell.put("row", "a", 5, ""),
            TestCell.put("rov", "z", 9, ""),
            TestCell.put("row", "b", 6, ""),
            new TestCell(first.key(), 5, 6, 0, CellType.PUT, Bytes.EMPTY),
            new TestCell(first.key(), 5, 5, 1, CellType.PUT, Bytes.EMPTY));
    try (SSTableWriter writer = create()) {
      first.addTo(writer);
      for (TestCell cell : refused) {
        assertThatThrownBy(() -> cell.addTo(writer))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("in order");
      }
      TestCell.put("row", "b", 4, "").addTo(writer); // What was refused left no trace.
      assertThat(writer.finish().properties().cells()).isEqualTo(2);
    }
  }

  @Test
  void aFinishedFileIsOnDiskWithAllItsBlocks() throws IOException {
    CrashableFileSystem fs = CrashableFileSystem.create();
    path = new Path("/several/blocks.sst");
    write(fs, SSTableOptions.DEFAULT, values(100));
    assertThat(fs.disk().unsyncedBytes(path)).isZero();
    path = new Path("/through/checksums.sst");
    write(new LocalFileSystem(fs), SSTableOptions.DEFAULT, values(100));
    assertThat(fs.disk().unsyncedBytes(path)).isZero();
  }

  private static List<TestCell> values(int rows) {
    List<TestCell> cells = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      cells.add(TestCell.put(String.format("row%03d", i), "a", 1, "v".repeat(1000)));
    }
    return cells;
  }

  @Test
  void whatIsNoCellOfAFileIsRefused() throws IOException {
    try (SSTableWriter writer = create()) {
      byte[] key = {1, 2, 3};
      assertThatThrownBy(() -> writer.add(new OneCell(key, 3, 1, 1, 0, CellType.PUT, key, 0, 0)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is not a column key");
      byte[] row = {1, 0, 0};
      assertThatThrownBy(() -> writer.add(new OneCell(row, 3, 1, 1, 0, CellType.LABEL, row, 0, 0)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aFileIsNeverOverwrittenAndTheOldOneStays() throws IOException {
    Files.writeString(file, "something else");
    assertThatThrownBy(this::create).isInstanceOf(FileAlreadyExistsException.class);
    assertThat(file).hasContent("something else");
  }

  @Test
  void closingWithoutFinishingDeletesTheFile() throws IOException {
    try (SSTableWriter writer = create()) {
      TestCell.put("row", "q", 1, "v").addTo(writer);
      assertThat(file).exists();
    }
    assertThat(file).doesNotExist();
  }

  @Test
  void nothingCanBeAddedAfterFinishing() throws IOException {
    try (SSTableWriter writer = create()) {
      writer.finish();
      assertThatThrownBy(() -> TestCell.put("row", "q", 1, "v").addTo(writer))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
    }
    assertThat(file).exists();
  }

  /** Who opens the file reads its last 64 KiB. */
  @Test
  void aLastMetaBlockIsBesideTheProperties() throws IOException {
    long length;
    try (SSTableWriter writer = create()) {
      writer.metaBlock("first", Bytes.of("1"));
      writer.lastMetaBlock("last", Bytes.of("2"));
      assertThatThrownBy(() -> writer.metaBlock("last", Bytes.EMPTY))
          .isInstanceOf(IllegalArgumentException.class);
      writer.lastMetaBlock("empty", Bytes.EMPTY);
      length = writer.finish().length();
    }
    try (SSTable table = SSTable.open(SSTableFiles.local(), path, length, NoBlockCache.INSTANCE)) {
      assertThat(table.metaBlocks()).containsExactly("first", "last", "empty");
      assertThat(table.metaBlock("last")).contains(Bytes.of("2"));
      assertThat(table.metaBlock("empty")).contains(Bytes.EMPTY);
      table.verify();
    }
  }

  @Test
  void aFileOfOnlyMetaBlocksIsAFile() throws IOException {
    long length;
    try (SSTableWriter writer = create()) {
      writer.metaBlock("operations", Bytes.of("ids"));
      writer.metaBlock("empty", Bytes.EMPTY);
      assertThatThrownBy(() -> writer.metaBlock("empty", Bytes.EMPTY))
          .isInstanceOf(IllegalArgumentException.class);
      length = writer.finish().length();
    }
    try (SSTable table = SSTable.open(SSTableFiles.local(), path, length, NoBlockCache.INSTANCE)) {
      assertThat(table.metaBlocks()).containsExactly("operations", "empty");
      assertThat(table.metaBlock("operations")).contains(Bytes.of("ids"));
      assertThat(table.metaBlock("empty")).contains(Bytes.EMPTY);
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.SCAN)).isEmpty();
      assertThat(table.cursor(RowRange.ALL, ReadOptions.POINT).seek(new byte[] {1})).isFalse();
      assertThat(table.mayContainRow(Bytes.of("row"), ReadOptions.POINT)).isFalse();
      assertThat(table.middleRow(RowRange.ALL)).isEmpty();
      assertThat(table.bytesIn(RowRange.ALL)).isZero();
      assertThat(table.properties().firstKey()).isEqualTo(Bytes.EMPTY);
      table.verify();
    }
  }

  @Test
  void manyVersionsOfOneColumnGoOverManyBlocks() throws IOException {
    List<TestCell> cells = new ArrayList<>();
    cells.add(TestCell.put("a", "q", 1, "a"));
    for (int version = 5000; version > 0; version--) {
      cells.add(TestCell.put("b", "q", version, "version " + version));
    }
    cells.add(TestCell.put("c", "q", 1, "c"));
    SSTableOptions options = SSTableOptions.DEFAULT.withBlockBytes(100).withIndexBytes(64, 64);
    try (SSTable table = SSTableFiles.open(SSTableFiles.bytes(directory, options, 3, cells))) {
      table.verify();
      assertThat(SSTableFiles.scan(table, RowRange.single(Bytes.of("b")), ReadOptions.POINT))
          .isEqualTo(cells.subList(1, 5001));
      assertThat(table.middleRow(RowRange.ALL))
          .hasValueSatisfying(row -> assertThat(row).isIn(Bytes.of("b"), Bytes.of("c")));
      assertThat(table.middleRow(RowRange.of("b", ""))).contains(Bytes.of("c"));
      assertThat(table.middleRow(RowRange.of("b", "c"))).isEmpty();
    }
  }

  @Test
  void theVersionsOfAColumnAreInOneBlockThatMayBecomeLarger() throws IOException {
    assertThat(dataBlocksOf(10, 5, 400)).isEqualTo(10);
    assertThat(dataBlocksOf(1, 9, 400)).as("up to four times the block size").isEqualTo(1);
    assertThat(dataBlocksOf(1, 10, 400)).as("above that").isEqualTo(2);
  }

  @Test
  void manySmallVersionsMakeNoLargerBlocks() throws IOException {
    assertThat(dataBlocksOf(1, 1000, 60)).as("16 and no more").isBetween(60L, 66L);
    assertThat(dataBlocksOf(1, 1000, 20)).as("what has room").isBetween(20L, 40L);
  }

  /** In blocks of 1000 bytes. */
  private long dataBlocksOf(int columns, int versions, int valueBytes) throws IOException {
    List<TestCell> cells = new ArrayList<>();
    for (int column = 0; column < columns; column++) {
      for (int version = versions; version > 0; version--) {
        Bytes value = SSTableModelTest.bytes(new Random(version), valueBytes);
        Bytes key = TestCell.put("row", "q" + column, 1, "").key();
        cells.add(new TestCell(key, version, 1, 0, CellType.PUT, value));
      }
    }
    SSTableOptions options = SSTableOptions.DEFAULT.withBlockBytes(1000);
    try (SSTable table = SSTableFiles.open(SSTableFiles.bytes(directory, options, 3, cells))) {
      table.verify();
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.COMPACTION)).isEqualTo(cells);
      return table.properties().dataBlocks();
    }
  }

  @Test
  void aHugeValueIsABlockOfItsOwn() throws IOException {
    Random random = new Random(1);
    byte[] huge = new byte[20 << 20];
    random.nextBytes(huge);
    TestCell before = TestCell.put("a", "q", 1, "a");
    TestCell large =
        new TestCell(TestCell.put("b", "q", 1, "").key(), 1, 1, 0, CellType.PUT, Bytes.wrap(huge));
    TestCell after = TestCell.put("c", "q", 1, "c");
    List<TestCell> cells = List.of(before, large, after);
    byte[] bytes = SSTableFiles.bytes(directory, SSTableOptions.DEFAULT, 3, cells);
    try (SSTable table = SSTableFiles.open(bytes)) {
      assertThat(SSTableFiles.scan(table, RowRange.ALL, ReadOptions.COMPACTION)).isEqualTo(cells);
      assertThat(table.properties().dataBlocks()).isEqualTo(3);
      table.verify();
    }
  }

  @Test
  void blocksThatDoNotShrinkAreStoredAsTheyAre() throws IOException {
    byte[] noise = new byte[50_000];
    new Random(1).nextBytes(noise);
    TestCell cell =
        new TestCell(TestCell.put("b", "q", 1, "").key(), 1, 1, 0, CellType.PUT, Bytes.wrap(noise));
    for (Codec codec : Codec.values()) {
      SSTableOptions options = SSTableOptions.DEFAULT.withCodec(codec);
      byte[] bytes = SSTableFiles.bytes(directory, options, 3, List.of(cell));
      assertThat(BlockHeader.decode(bytes, SSTableFormat.HEADER_BYTES).codec()).isZero();
    }
  }

  @Test
  void noFinishedFileIsLeftWhereverAWriteFails() throws IOException {
    List<TestCell> cells = SSTableModelTest.randomCells(new Random(2));
    SSTableOptions options = SSTableOptions.DEFAULT.withBlockBytes(512).withIndexBytes(64, 64);
    long whole = write(SSTableFiles.local(), options, cells);
    Files.delete(file);
    for (int room = 0; room < whole; room += (int) (1 + whole / 200)) {
      FileSystem fs = new FullFileSystem(room);
      assertThatThrownBy(() -> write(fs, options, cells))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("no space");
      assertThat(file).doesNotExist();
    }
  }

  @Test
  void afterAFailedWriteNothingCanBeFinished() throws IOException {
    try (SSTableWriter writer =
        SSTableWriter.create(
            new FullFileSystem(1000), path, SSTableOptions.DEFAULT, SSTableFiles.FILE_ID)) {
      Bytes much = SSTableModelTest.bytes(new Random(1), 200_000);
      assertThatThrownBy(() -> writer.metaBlock("m", much)).isInstanceOf(IOException.class);
      assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
    }
    assertThat(file).doesNotExist();
  }

  private long write(FileSystem fs, SSTableOptions options, List<TestCell> cells)
      throws IOException {
    try (SSTableWriter writer = SSTableWriter.create(fs, path, options, SSTableFiles.FILE_ID)) {
      for (TestCell cell : cells) {
        cell.addTo(writer);
      }
      return writer.finish().length();
    }
  }

  private SSTableWriter create() throws IOException {
    return SSTableWriter.create(
        SSTableFiles.local(), path, SSTableOptions.DEFAULT, SSTableFiles.FILE_ID);
  }

  /** A local disk with room for so many bytes; what has room is kept, as disks do. */
  private static final class FullFileSystem extends FilterFileSystem {
    private final int room;

    FullFileSystem(int room) throws IOException {
      super(SSTableFiles.local());
      this.room = room;
    }

    @Override
    public FSDataOutputStream createNonRecursive(
        Path path,
        FsPermission permission,
        EnumSet<CreateFlag> flags,
        int bufferSize,
        short replication,
        long blockSize,
        Progressable progress)
        throws IOException {
      FSDataOutputStream disk =
          super.createNonRecursive(
              path, permission, flags, bufferSize, replication, blockSize, progress);
      return new FSDataOutputStream(new FullStream(disk, room), null);
    }
  }

  private static final class FullStream extends OutputStream
      implements Syncable, StreamCapabilities {
    private final FSDataOutputStream disk;
    private int room;

    FullStream(FSDataOutputStream disk, int room) {
      this.disk = disk;
      this.room = room;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      disk.write(bytes, offset, Math.min(room, length));
      room -= Math.min(room, length);
      if (room == 0) {
        throw new IOException("no space left on the disk");
      }
    }

    @Override
    public void hflush() throws IOException {
      disk.hflush();
    }

    @Override
    public void hsync() throws IOException {
      disk.hsync();
    }

    @Override
    public boolean hasCapability(String capability) {
      return disk.hasCapability(capability);
    }

    @Override
    public void close() throws IOException {
      disk.close();
    }
  }
}
