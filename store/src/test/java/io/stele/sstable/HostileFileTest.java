package io.stele.sstable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.format.ByteWriter;
import io.stele.format.Compression;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.CorruptionException;
import io.stele.model.NewerFormatException;
import io.stele.sstable.avro.MetaBlockRecord;
import io.stele.sstable.avro.PropertiesRecord;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files whose checksums are right, as their writer may be anybody who runs a job. What they say of
 * themselves takes no memory and no time that they do not have the bytes for.
 */
class HostileFileTest {
  private static final int HUGE = 2_000_000_000;
  private static final String SCHEMA = PropertiesRecord.getClassSchema().toString();

  @TempDir java.nio.file.Path directory;

  private byte[] good;
  private Footer footer;

  @BeforeEach
  void aFile() throws IOException {
    good =
        SSTableFiles.bytes(
            directory, SSTableOptions.DEFAULT, 7, List.of(TestCell.put("row", "q", 1, "value")));
    footer = Footer.decode(good, good.length, "good");
  }

  /** The file with another block of properties, and one before it. */
  private byte[] with(byte[] before, String schema, byte[] record) {
    int at = (int) footer.properties().offset() + before.length;
    byte[] contents =
        new ByteWriter(100).writePrefixed(Bytes.of(schema)).write(Bytes.of(record)).toByteArray();
    byte[] block = block(at, BlockKind.PROPERTIES, Codec.NONE, contents.length, contents);
    Handle properties = new Handle(at, block.length);
    return new ByteWriter(good.length)
        .write(Bytes.of(good, 0, (int) footer.properties().offset()))
        .write(Bytes.of(before))
        .write(Bytes.of(block))
        .write(Bytes.of(new Footer(properties, footer.index(), footer.bloom(), 7).encode()))
        .toByteArray();
  }

  private static byte[] block(
      long at, BlockKind kind, Codec codec, int rawLength, byte[] contents) {
    ByteWriter out = new ByteWriter(contents.length + 100);
    out.writeInt(contents.length).writeInt(rawLength).writeByte(kind.code());
    out.writeByte(Compression.code(codec)).write(Bytes.of(contents));
    CRC32C crc = new CRC32C();
    crc.update(out.toByteArray());
    crc.update(new ByteWriter(16).writeLong(7).writeLong(at).toByteArray());
    return out.writeInt((int) crc.getValue()).toByteArray();
  }

  private static PropertiesRecord.Builder record() {
    return PropertiesRecord.newBuilder()
        .setCells(1)
        .setTombstones(0)
        .setRows(1)
        .setFirstKey(Bytes.of("a").asByteBuffer())
        .setLastKey(Bytes.of("a").asByteBuffer())
        .setMinSequence(0)
        .setMaxSequence(0)
        .setMinTimestamp(0)
        .setMaxTimestamp(0)
        .setHighestServerTimestamp(0)
        .setRawBytes(1)
        .setDataBytes(1)
        .setDataBlocks(1)
        .setCodec("NONE")
        .setCreatedBy("somebody")
        .setMetaBlocks(List.of());
  }

  private static byte[] encoded(PropertiesRecord record) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
    new SpecificDatumWriter<>(PropertiesRecord.class).write(record, encoder);
    encoder.flush();
    return out.toByteArray();
  }

  private static void assertDamaged(byte[] file, String how) {
    assertThatThrownBy(() -> SSTableFiles.open(file))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("properties block")
        .hasMessageContaining(how);
  }

  @Test
  void theFileOfTheseTestsIsReadWhereNothingIsWrong() throws IOException {
    try (SSTable table = SSTableFiles.open(with(new byte[0], SCHEMA, encoded(record().build())))) {
      assertThat(table.properties().createdBy()).isEqualTo("somebody");
    }
  }

  @Test
  void aKeyOfMoreBytesThanThereAre() throws IOException {
    byte[] numbers = {2, 0, 2}; // Cells, tombstones, rows.
    ByteArrayOutputStream record = new ByteArrayOutputStream();
    record.write(numbers);
    EncoderFactory.get().directBinaryEncoder(record, null).writeLong(HUGE);
    record.write(new byte[1000]);
    assertDamaged(with(new byte[0], SCHEMA, record.toByteArray()), "2000000000 bytes wanted");
  }

  @Test
  void moreMetaBlocksThanThereAreBytes() throws IOException {
    byte[] record = encoded(record().build());
    ByteArrayOutputStream more = new ByteArrayOutputStream();
    more.write(record, 0, record.length - 1); // Without the end of its empty list.
    EncoderFactory.get().directBinaryEncoder(more, null).writeLong(HUGE);
    more.write(new byte[1000]);
    assertDamaged(with(new byte[0], SCHEMA, more.toByteArray()), "2000000000 items");
  }

  @Test
  void moreMetaBlocksThanAnyFileHas() throws IOException {
    List<MetaBlockRecord> many = Collections.nCopies(1000, new MetaBlockRecord("a", 24L, 24));
    assertDamaged(
        with(new byte[0], SCHEMA, encoded(record().setMetaBlocks(many).build())),
        "1000 meta blocks");
  }

  @Test
  void itemsWithoutBytesThatTheReaderSkips() throws IOException {
    String schema =
        SCHEMA.replaceFirst(
            "\"fields\":\\[",
            "\"fields\":[{\"name\":\"more\",\"type\":{\"type\":\"array\",\"items\":\"null\"}},");
    ByteArrayOutputStream record = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(record, null);
    for (int i = 0; i < 1000; i++) { // Each would keep a thread busy for minutes.
      encoder.writeLong(HUGE);
    }
    encoder.writeLong(0);
    record.write(encoded(record().build()));
    assertDamaged(with(new byte[0], schema, record.toByteArray()), "may have no bytes");
  }

  @Test
  void aSchemaThatGrowsExponentiallyWhereItsTypesAreUsed() throws IOException {
    StringBuilder fields = new StringBuilder();
    for (int i = 0; i < 30; i++) {
      fields.append(
          "{\"name\":\"r%d\",\"type\":{\"type\":\"record\",\"name\":\"R%d\",\"fields\":["
              .formatted(i, i));
      for (int j = 0; j < 4; j++) {
        fields.append(
            "%s{\"name\":\"f%d\",\"type\":\"%s\"}"
                .formatted(j == 0 ? "" : ",", j, i == 0 ? "int" : "R" + (i - 1)));
      }
      fields.append("]}},");
    }
    String schema = SCHEMA.replaceFirst("\"fields\":\\[", "\"fields\":[" + fields);
    assertDamaged(with(new byte[0], schema, new byte[1000]), "more than 10000 types");
  }

  /** Avro would check each default by those of the records in it. */
  @Test
  @Timeout(60)
  void aSchemaWhoseDefaultsTakeExponentialTime() {
    StringBuilder fields = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      fields.append(
          "{\"name\":\"d%d\",\"type\":{\"type\":\"record\",\"name\":\"D%d\",\"fields\":["
              .formatted(i, i));
      String type = i == 0 ? "\"int\",\"default\":0" : "\"D" + (i - 1) + "\",\"default\":{}";
      fields.append("{\"name\":\"a\",\"type\":" + type + "},");
      fields.append("{\"name\":\"b\",\"type\":" + type + "}]}},");
    }
    String schema = SCHEMA.replaceFirst("\"fields\":\\[", "\"fields\":[" + fields);
    assertDamaged(with(new byte[0], schema, new byte[1000]), "more than 10000 types");
  }

  @Test
  void aSchemaThatNestsWithoutEnd() {
    String nested = "{\"type\":\"array\",\"items\":".repeat(2000) + "\"int\"" + "}".repeat(2000);
    String schema =
        SCHEMA.replaceFirst(
            "\"fields\":\\[", "\"fields\":[{\"name\":\"n\",\"type\":" + nested + "},");
    assertDamaged(with(new byte[0], schema, new byte[1000]), "nests more than 100 deep");
  }

  @Test
  void aSchemaThatIsLargerThanAny() {
    assertDamaged(with(new byte[0], SCHEMA + " ".repeat(100_000), new byte[10]), "the limit is");
  }

  @Test
  void propertiesLargerThanAny() {
    byte[] large = new byte[2 << 20];
    assertThatThrownBy(() -> SSTableFiles.open(with(new byte[0], SCHEMA, large)))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("at most 1048576");
  }

  @Test
  void theLongestKeysThereMayBeAreNotTooLarge() throws IOException {
    String row = "\0".repeat(64 << 10); // Zeros take two bytes in a key.
    byte[] bytes =
        SSTableFiles.bytes(
            directory,
            SSTableOptions.DEFAULT,
            8,
            List.of(TestCell.put(row, "q".repeat(64 << 10), 1, "value")));
    try (SSTable table = SSTableFiles.open(bytes)) {
      assertThat(table.properties().firstKey().length()).isGreaterThan(192 << 10);
    }
  }

  @Test
  void aSmallMetaBlockThatSaysItHasAGibibyte() throws IOException {
    int at = (int) footer.properties().offset();
    byte[] contents = new byte[32 << 10];
    byte[] meta = block(at, BlockKind.META, Codec.ZSTD, 1 << 30, contents);
    byte[] record =
        encoded(
            record()
                .setMetaBlocks(List.of(new MetaBlockRecord("surplus", (long) at, meta.length)))
                .build());
    try (SSTable table = SSTableFiles.open(with(meta, SCHEMA, record))) {
      assertThatThrownBy(() -> table.metaBlock("surplus", 1 << 20))
          .isInstanceOf(CorruptionException.class)
          .hasMessageContaining("no such block has 1073741824 bytes");
      assertThatThrownBy(() -> table.metaBlock("surplus", 1 << 10))
          .isInstanceOf(CorruptionException.class)
          .hasMessageContaining("no such block has 32768 bytes");
    }
  }

  @Test
  void randomPropertiesWithRightChecksums() throws IOException {
    byte[] record =
        encoded(record().setMetaBlocks(List.of(new MetaBlockRecord("a", 24L, 24))).build());
    for (long seed = 0; seed < 20_000; seed++) {
      Random random = new Random(seed);
      byte[] bad = record.clone();
      for (int i = 1 + random.nextInt(8); i > 0; i--) {
        bad[random.nextInt(bad.length)] = (byte) random.nextInt();
      }
      try (SSTable table = SSTableFiles.open(with(new byte[0], SCHEMA, bad))) {
        assertThat(table.properties()).isNotNull();
      } catch (CorruptionException e) {
        assertThat(e.file()).as("seed %d", seed).isEqualTo(SSTableFiles.ANYWHERE.toString());
      } catch (NewerFormatException e) {
        assertThat(e).as("seed %d", seed).hasMessageContaining("unknown");
      }
    }
  }

  @Test
  void randomSchemasWithRightChecksums() throws IOException {
    byte[] record = encoded(record().build());
    List<String> parts = new ArrayList<>();
    for (String part : SCHEMA.split("(?<=[,{}\\[\\]])")) {
      parts.add(part);
    }
    for (long seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      List<String> bad = new ArrayList<>(parts);
      for (int i = 1 + random.nextInt(4); i > 0; i--) {
        bad.set(random.nextInt(bad.size()), parts.get(random.nextInt(parts.size())));
      }
      byte[] file = with(new byte[0], String.join("", bad), record);
      try (SSTable table = SSTableFiles.open(file)) {
        assertThat(table.properties()).isNotNull();
      } catch (CorruptionException e) {
        assertThat(e.file()).as("seed %d", seed).isEqualTo(SSTableFiles.ANYWHERE.toString());
      } catch (NewerFormatException e) {
        assertThat(e).as("seed %d", seed).hasMessageContaining("unknown");
      }
    }
  }

  @Test
  void whatALaterVersionWroteIsNotDamaged() throws IOException {
    byte[] record = encoded(record().setCodec("BEST_EVER").build());
    assertThatThrownBy(() -> SSTableFiles.open(with(new byte[0], SCHEMA, record)))
        .isInstanceOf(NewerFormatException.class)
        .hasMessageContaining("BEST_EVER")
        .hasMessageContaining("upgrade");
    int at = (int) footer.properties().offset();
    byte[] meta = block(at, BlockKind.META, Codec.NONE, 3, new byte[3]);
    meta[9] = 99; // The codec.
    CRC32C crc = new CRC32C();
    crc.update(meta, 0, meta.length - 4);
    crc.update(new ByteWriter(16).writeLong(7).writeLong(at).toByteArray());
    System.arraycopy(
        new ByteWriter(4).writeInt((int) crc.getValue()).toByteArray(),
        0,
        meta,
        meta.length - 4,
        4);
    byte[] named =
        encoded(
            record()
                .setMetaBlocks(List.of(new MetaBlockRecord("m", (long) at, meta.length)))
                .build());
    try (SSTable table = SSTableFiles.open(with(meta, SCHEMA, named))) {
      assertThatThrownBy(() -> table.metaBlock("m"))
          .isInstanceOf(NewerFormatException.class)
          .hasMessageContaining("codec 99");
    }
  }
}
