package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.BatchWriter;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.format.CellCursor;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.HdfsCluster;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.ReadOptions;
import io.stele.sstable.SSTable;
import io.stele.sstable.SSTableOptions;
import io.stele.sstable.SSTableWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables whose files on HDFS are damaged behind Stele's back. */
class VerifyTableIT {
  private static final int ROWS = 600;
  private static final int VALUE_BYTES = 400;

  @TempDir private static Path scratch;
  private static HdfsCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    cluster = new HdfsCluster(scratch.toFile());
    cluster.stele().client().admin().setBalanced(false); // A tablet that moves is read anew.
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format("row%05d", number));
  }

  /** A table of three tablets, each with one file. */
  private static Table fill(String name, int seed) throws IOException {
    Stele stele = cluster.stele().client();
    stele.admin().createTable(TableSchema.of(name, "f"), List.of(row(ROWS / 3), row(ROWS * 2 / 3)));
    Table table = stele.table(name);
    Random random = new Random(seed);
    try (BatchWriter writer = table.batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        writer.add(Mutation.of(row(i)).put("f", Bytes.of("q"), 1000 + i, Bytes.of(value)));
      }
    }
    stele.admin().compactTable(name);
    return table;
  }

  /** The file of each tablet, as its record names it. */
  private static List<org.apache.hadoop.fs.Path> files(Table table) throws IOException {
    return cluster.stele().records().readAll(table.id()).stream()
        .flatMap(record -> record.files().stream())
        .map(file -> new org.apache.hadoop.fs.Path("/stele", file.path()))
        .toList();
  }

  private static byte[] read(org.apache.hadoop.fs.Path file) throws IOException {
    try (FSDataInputStream in = cluster.fs().open(file)) {
      return in.readAllBytes();
    }
  }

  private static void write(org.apache.hadoop.fs.Path file, byte[] bytes) throws IOException {
    try (FSDataOutputStream out = cluster.fs().create(file, true)) {
      out.write(bytes);
    }
  }

  private static TableJob.Report verify(VerifyTable verify) throws Exception {
    Configuration conf = new Configuration(cluster.conf());
    conf.setBoolean(FileOutputFormat.COMPRESS, true); // As sites have it for other jobs.
    conf.setLong(TableInputFormat.SPLIT_BYTES_KEY, 30 << 10); // Several for a tablet.
    conf.set(Keys.CLIENT_TIMEOUT.name(), "6s"); // Reads of a missing file wait so long.
    Job job = verify.prepare(conf);
    try {
      assertThat(job.waitForCompletion(true)).isTrue();
      return verify.report(job);
    } finally {
      verify.cleanUp(job);
    }
  }

  private static List<String> words(TableJob.Report report) {
    return report.lines().stream().map(String::strip).toList();
  }

  @Test
  void aSoundTableIsSoundAndItsFilesAreCountedOnce() throws Exception {
    Table table = fill("sound", 1);
    table.mutate(Mutation.of(row(7)).deleteRow());
    TableJob.Report report = verify(new VerifyTable("sound"));
    assertThat(report.verdict()).as("%s", report).isEqualTo(TableJob.Verdict.GOOD);
    assertThat(words(report)).hasSize(6);
    // The delete is in a file of its own: what is in memory is written down first.
    assertThat(words(report).get(0)).startsWith("4 files are sound, ");
    assertThat(words(report).get(1)).isEqualTo("0 files are damaged or missing");
    assertThat(words(report).get(2))
        .isEqualTo(ROWS - 1 + " rows are the same in files and from tablet servers");

    RowRange some = new RowRange(row(ROWS / 3 + 10), row(ROWS / 3 + 20));
    TableJob.Report part = verify(new VerifyTable("sound", some));
    assertThat(words(part).get(0)).startsWith("1 files are sound, ");
    assertThat(words(part).get(2)).startsWith("10 rows are the same");
  }

  @Test
  void aDamagedFileIsNamedWithTheOffsetAndTheOthersAreVerified() throws Exception {
    Table table = fill("damaged", 2);
    org.apache.hadoop.fs.Path file = files(table).get(1);
    byte[] bytes = read(file);
    bytes[bytes.length / 2] ^= 1;
    write(file, bytes);

    TableJob.Report report = verify(new VerifyTable("damaged"));
    assertThat(report.verdict()).isEqualTo(TableJob.Verdict.DAMAGED);
    assertThat(words(report).get(0)).startsWith("2 files are sound, ");
    assertThat(words(report).get(1)).isEqualTo("1 files are damaged or missing");
    assertThat(words(report))
        .anyMatch(
            line -> line.matches("damaged: hdfs://.*" + file.getName() + " at offset \\d+: .*"))
        .anyMatch(line -> line.startsWith("not compared: rows [row00"))
        .noneMatch(line -> line.startsWith("different"));
    // All rows of the two tablets whose files are whole.
    long same = Long.parseLong(words(report).get(2).split(" ")[0]);
    assertThat(same).isBetween(ROWS * 2L / 3, ROWS - 1L);
  }

  @Test
  void aMissingFileIsNamed() throws Exception {
    Table table = fill("missing", 3);
    org.apache.hadoop.fs.Path file = files(table).get(0);
    cluster.fs().delete(file, false);

    TableJob.Report report = verify(new VerifyTable("missing"));
    assertThat(report.verdict()).isEqualTo(TableJob.Verdict.DAMAGED);
    assertThat(words(report).get(0)).startsWith("2 files are sound, ");
    assertThat(words(report))
        .anyMatch(
            line ->
                line.startsWith("damaged: hdfs://")
                    && line.endsWith(file.getName() + " the file is missing"));
  }

  /** Writes a sound file without the last rows in its place, as long as it was. */
  private static void truncate(org.apache.hadoop.fs.Path file, Bytes end) throws IOException {
    FileSystem fs = cluster.fs();
    org.apache.hadoop.fs.Path other = file.suffix(".new");
    long length = fs.getFileStatus(file).getLen();
    int padding = 0;
    for (long off = -1; off != 0; padding += (int) off) {
      try (SSTable table = SSTable.open(fs, file, length, NoBlockCache.INSTANCE);
          CellCursor cells =
              table.cursor(new RowRange(Bytes.EMPTY, end), new ReadOptions(false, 0, false));
          SSTableWriter writer =
              SSTableWriter.create(
                  fs, other, SSTableOptions.DEFAULT.withCodec(Codec.NONE), padding)) {
        while (cells.next()) {
          writer.add(cells);
        }
        writer.metaBlock("padding", Bytes.of(new byte[padding]));
        off = length - writer.finish().length();
      }
      if (off != 0) {
        fs.delete(other, false);
      }
    }
    fs.delete(file, false);
    fs.rename(other, file);
  }

  @Test
  void aSoundFileThatIsNotWhatTheServerHasReadIsFoundByItsRows() throws Exception {
    Table table = fill("mine", 4);
    for (int i = 0; i < ROWS; i++) {
      table.readRow(row(i)); // The server has the blocks in memory.
    }
    org.apache.hadoop.fs.Path first =
        files(table).stream().filter(file -> contains(file, row(0))).findFirst().orElseThrow();
    truncate(first, row(ROWS / 3 - 50));

    TableJob.Report report = verify(new VerifyTable("mine"));
    assertThat(report.verdict()).isEqualTo(TableJob.Verdict.DAMAGED);
    assertThat(words(report).get(1)).isEqualTo("0 files are damaged or missing");
    assertThat(words(report).get(2)).startsWith(ROWS - 50 + " rows are the same");
    assertThat(words(report).get(5)).isEqualTo("50 rows are only in what tablet servers return");
    assertThat(words(report)).contains("only in tablet servers: " + row(ROWS / 3 - 1));
  }

  private static boolean contains(org.apache.hadoop.fs.Path file, Bytes row) {
    try (SSTable table =
            SSTable.open(
                cluster.fs(),
                file,
                cluster.fs().getFileStatus(file).getLen(),
                NoBlockCache.INSTANCE);
        CellCursor cells = table.cursor(RowRange.single(row), new ReadOptions(false, 0, false))) {
      return cells.next();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
