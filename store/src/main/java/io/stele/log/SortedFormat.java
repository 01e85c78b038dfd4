package io.stele.log;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.Crc32c;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.TabletId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * The bytes of a sorted segment: the records of one segment with those of each tablet together, and
 * an index of where they are. Integers are as in {@link LogFormat}.
 *
 * <pre>
 * sorted  := header record* index footer
 * header  := the segment's own header; its last four bytes are the salt of the records' checksums
 * record  := as in a segment; its position is that in this file
 * index   := ended:varlong linked:u8 link? tablets:varlong (table:prefixed tablet:u64 runs:varlong (offset:varlong length:varlong)*)*
 * link    := prefixed link-body of the segment
 * footer  := index-length:u32 index-crc:u32 salt:u32 magic:"STELESRT"
 * </pre>
 *
 * <p>{@code ended} is where the segment's records end. The records of one tablet are in one or more
 * runs; they are in the order of the segment if the runs are read in the order of the index.
 */
final class SortedFormat {
  static final byte[] MAGIC = "STELESRT".getBytes(StandardCharsets.US_ASCII);
  static final int FOOTER_BYTES = 3 * Integer.BYTES + MAGIC.length;
  static final int INDEX_BYTES_MAX = 64 << 20;

  private SortedFormat() {}

  /** Where some records of one tablet are. */
  record Run(long offset, long length) {}

  /**
   * What is in a sorted segment.
   *
   * @param ended where the records of the segment itself end
   * @param link what the segment says of the one before
   */
  record Index(long ended, Optional<SegmentLink> link, Map<TabletId, List<Run>> tablets) {}

  /** The file with the sorted records of {@code segment}. */
  static Path path(Segment segment) {
    return new Path(
        segment.path().getParent(), segment.kind() + "-" + segment.number() + ".sorted");
  }

  static byte[] encode(Index index, int salt) {
    ByteWriter out = new ByteWriter(64 + 48 * index.tablets().size());
    out.writeVarlong(index.ended()).writeByte(index.link().isPresent() ? 1 : 0);
    index
        .link()
        .ifPresent(link -> out.writePrefixed(Bytes.of(LogFormat.encodeBody(link).toByteArray())));
    out.writeVarlong(index.tablets().size());
    index
        .tablets()
        .forEach(
            (tablet, runs) -> {
              LogFormat.writeTablet(out, tablet).writeVarlong(runs.size());
              runs.forEach(run -> out.writeVarlong(run.offset()).writeVarlong(run.length()));
            });
    int length = out.size();
    int crc = Crc32c.of(out.array(), 0, length);
    return out.writeInt(length)
        .writeInt(crc)
        .writeInt(salt)
        .write(MAGIC, 0, MAGIC.length)
        .toByteArray();
  }

  /**
   * The salt in a footer.
   *
   * @throws MalformedException if it is no footer
   */
  static int salt(byte[] footer) throws MalformedException {
    for (int i = 0; i < MAGIC.length; i++) {
      if (footer[3 * Integer.BYTES + i] != MAGIC[i]) {
        throw new MalformedException(0, "a sorted segment does not end with its magic");
      }
    }
    int length = indexLength(footer);
    if (length < 1 || length > INDEX_BYTES_MAX) {
      throw new MalformedException(0, "an index cannot have " + length + " bytes");
    }
    return ByteReader.intAt(footer, 2 * Integer.BYTES);
  }

  static int indexLength(byte[] footer) {
    return ByteReader.intAt(footer, 0);
  }

  static Index decode(byte[] bytes, byte[] footer) throws MalformedException {
    if (Crc32c.of(bytes, 0, bytes.length) != ByteReader.intAt(footer, Integer.BYTES)) {
      throw new MalformedException(0, "the index does not match its checksum");
    }
    ByteReader in = new ByteReader(bytes);
    long ended = in.readVarlong();
    Optional<SegmentLink> link =
        in.readByte() == 0
            ? Optional.empty()
            : Optional.of(LogFormat.decodeLink(in.readPrefixed().toByteArray()));
    Map<TabletId, List<Run>> tablets = new TreeMap<>();
    try {
      for (long left = in.readVarlong(); left > 0; left--) {
        TabletId tablet = LogFormat.readTablet(in);
        List<Run> runs = new ArrayList<>();
        for (long more = in.readVarlong(); more > 0; more--) {
          runs.add(new Run(in.readVarlong(), in.readVarlong()));
        }
        tablets.put(tablet, List.copyOf(runs));
      }
    } catch (IllegalArgumentException e) {
      throw in.malformed(String.valueOf(e.getMessage()));
    }
    if (in.remaining() > 0) {
      throw in.malformed("an index is followed by " + in.remaining() + " bytes");
    }
    return new Index(ended, link, tablets);
  }
}
