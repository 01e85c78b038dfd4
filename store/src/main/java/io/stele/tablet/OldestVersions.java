package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.CellType;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * How old the versions in an SSTable are, by family: the lowest timestamp of those that newer ones
 * had pushed out ({@link CellType#SURPLUS}), and of the others. A policy that needs both the age
 * and the number of a version can be sure then that nothing of the file is garbage. Immutable.
 *
 * <pre>
 * block := (family:prefixed there:varlong surplus:varlong)*     in ascending order of family;
 *                                                               lowest timestamp + 1; 0: none
 * </pre>
 *
 * A file without this block is of an earlier version of Stele, or was written by a job.
 */
final class OldestVersions {
  /** The name of the block in an SSTable. */
  static final String NAME = "oldest";

  /** The lowest timestamps of one family, {@link Long#MAX_VALUE} where there are none. */
  private record Lowest(long there, long surplus) {}

  private final Map<String, Lowest> families;

  private OldestVersions(Map<String, Lowest> families) {
    this.families = Map.copyOf(families);
  }

  /**
   * Finds the lowest timestamps of one family of a file that is being written. Not safe for use by
   * several threads.
   */
  static final class Finder {
    private long there = Long.MAX_VALUE;
    private long surplus = Long.MAX_VALUE;

    void add(CellType type, long timestamp) {
      if (type == CellType.SURPLUS) {
        surplus = Math.min(surplus, timestamp);
      } else if (!type.isTombstone()) {
        there = Math.min(there, timestamp);
      }
    }

    boolean hasSurplus() {
      return surplus != Long.MAX_VALUE;
    }
  }

  /** The block for what was found, by family. */
  static Bytes encode(Map<String, Finder> found) {
    ByteWriter out = new ByteWriter(64);
    new TreeMap<>(found)
        .forEach(
            (family, lowest) -> {
              out.writePrefixed(family.getBytes(StandardCharsets.UTF_8));
              out.writeVarlong(lowest.there == Long.MAX_VALUE ? 0 : lowest.there + 1);
              out.writeVarlong(lowest.surplus == Long.MAX_VALUE ? 0 : lowest.surplus + 1);
            });
    return Bytes.wrap(out.toByteArray());
  }

  /**
   * Reads a block.
   *
   * @param file for messages
   */
  static OldestVersions decode(Bytes block, String file) throws CorruptionException {
    Map<String, Lowest> families = new HashMap<>();
    ByteReader in = new ByteReader(block.toByteArray());
    try {
      while (in.remaining() > 0) {
        String family = in.readPrefixed().toUtf8();
        long there = in.readVarlong();
        long surplus = in.readVarlong();
        families.put(
            family,
            new Lowest(
                there == 0 ? Long.MAX_VALUE : there - 1,
                surplus == 0 ? Long.MAX_VALUE : surplus - 1));
      }
    } catch (MalformedException e) {
      throw new CorruptionException(file, 0, "its block of oldest versions: " + e.getMessage(), e);
    }
    return new OldestVersions(families);
  }

  /** Reads a file's block; empty if it has none. */
  static Optional<OldestVersions> of(Optional<Bytes> block, String file)
      throws CorruptionException {
    return block.isPresent() ? Optional.of(decode(block.get(), file)) : Optional.empty();
  }

  /** Whether some version of the file is garbage at {@code now}, in microseconds, for its age. */
  boolean hasGarbage(SchemaRules rules, long now) {
    return families.entrySet().stream()
        .anyMatch(
            family -> {
              GcRule rule = rules.gc(family.getKey());
              Lowest lowest = family.getValue();
              return (lowest.there() != Long.MAX_VALUE
                      && rule.isGarbage(false, lowest.there(), now))
                  || (lowest.surplus() != Long.MAX_VALUE
                      && rule.isGarbage(true, lowest.surplus(), now));
            });
  }
}
