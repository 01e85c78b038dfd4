package io.stele.sstable;

import io.stele.format.AvroBody;
import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.CarriedSchema;
import io.stele.format.MalformedException;
import io.stele.model.Bloom;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.sstable.avro.MetaBlockRecord;
import io.stele.sstable.avro.PropertiesRecord;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;

/**
 * The contents of the properties block: an Avro record and the schema it was written with, so that
 * older and newer versions read each other's.
 *
 * @param properties the file's properties
 * @param metaBlocks where the meta blocks are, by name
 */
record PropertiesBlock(SSTableProperties properties, Map<String, Handle> metaBlocks) {
  private static final String SCHEMA = PropertiesRecord.getClassSchema().toString();

  /** More meta blocks than any file has. */
  private static final int META_BLOCKS_MAX = 64;

  /** The most items of all lists in the record: leaves room for those that a newer version adds. */
  private static final int ITEMS_MAX = 4096;

  byte[] encode() throws IOException {
    List<MetaBlockRecord> blocks = new ArrayList<>();
    metaBlocks.forEach(
        (name, handle) -> blocks.add(new MetaBlockRecord(name, handle.offset(), handle.length())));
    PropertiesRecord avro =
        PropertiesRecord.newBuilder()
            .setCells(properties.cells())
            .setTombstones(properties.tombstones())
            .setRowTombstones(properties.rowTombstones())
            .setFamilyTombstones(properties.familyTombstones())
            .setRows(properties.rows())
            .setFirstKey(properties.firstKey().asByteBuffer())
            .setLastKey(properties.lastKey().asByteBuffer())
            .setMinSequence(properties.minSequence())
            .setMaxSequence(properties.maxSequence())
            .setMinTimestamp(properties.minTimestamp())
            .setMaxTimestamp(properties.maxTimestamp())
            .setHighestServerTimestamp(properties.highestServerTimestamp())
            .setRawBytes(properties.rawBytes())
            .setDataBytes(properties.dataBytes())
            .setDataBlocks(properties.dataBlocks())
            .setCodec(properties.codec().name())
            .setBloom(properties.bloom().name())
            .setCreatedBy(properties.createdBy())
            .setMetaBlocks(blocks)
            .build();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    new SpecificDatumWriter<>(PropertiesRecord.class).write(avro, encoder);
    encoder.flush();
    Bytes record = Bytes.wrap(bytes.toByteArray());
    return new ByteWriter(record.length() + SCHEMA.length() + 8)
        .writePrefixed(Bytes.of(SCHEMA))
        .write(record)
        .toByteArray();
  }

  static PropertiesBlock decode(Contents contents) throws MalformedException {
    ByteReader in = new ByteReader(contents.array(), contents.offset(), contents.length());
    String schema = in.readPrefixed().toUtf8();
    PropertiesRecord avro;
    try {
      BinaryDecoder decoder =
          DecoderFactory.get().binaryDecoder(contents.array(), in.position(), in.remaining(), null);
      Schema written =
          schema.equals(SCHEMA) ? PropertiesRecord.getClassSchema() : CarriedSchema.parse(schema);
      AvroBody.check(written, in, ITEMS_MAX);
      avro =
          new SpecificDatumReader<PropertiesRecord>(written, PropertiesRecord.getClassSchema())
              .read(null, decoder);
    } catch (IOException | RuntimeException e) { // Avro throws many kinds for what is not Avro.
      MalformedException malformed =
          in.malformed("no Avro record of properties: " + e.getMessage());
      malformed.initCause(e);
      throw malformed;
    }
    if (avro.getMetaBlocks().size() > META_BLOCKS_MAX) {
      throw in.malformed("no file has " + avro.getMetaBlocks().size() + " meta blocks");
    }
    Map<String, Handle> blocks = new LinkedHashMap<>();
    for (MetaBlockRecord block : avro.getMetaBlocks()) {
      blocks.put(block.getName(), new Handle(block.getOffset(), block.getLength()));
    }
    return new PropertiesBlock(
        new SSTableProperties(
            avro.getCells(),
            avro.getTombstones(),
            avro.getRowTombstones(),
            avro.getFamilyTombstones(),
            avro.getRows(),
            bytes(avro.getFirstKey()),
            bytes(avro.getLastKey()),
            avro.getMinSequence(),
            avro.getMaxSequence(),
            avro.getMinTimestamp(),
            avro.getMaxTimestamp(),
            avro.getHighestServerTimestamp(),
            avro.getRawBytes(),
            avro.getDataBytes(),
            avro.getDataBlocks(),
            codec(avro.getCodec(), in),
            bloom(avro.getBloom(), in),
            avro.getCreatedBy()),
        blocks);
  }

  private static Codec codec(String name, ByteReader in) throws MalformedException {
    for (Codec codec : Codec.values()) {
      if (codec.name().equals(name)) {
        return codec;
      }
    }
    throw in.newer("the unknown codec " + name);
  }

  private static Bloom bloom(String name, ByteReader in) throws MalformedException {
    for (Bloom bloom : Bloom.values()) {
      if (bloom.name().equals(name)) {
        return bloom;
      }
    }
    throw in.newer("a Bloom filter of the unknown kind " + name);
  }

  private static Bytes bytes(ByteBuffer buffer) {
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return Bytes.wrap(copy);
  }
}
