package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * By which count of versions those of an SSTable that are {@link io.stele.format.CellType#SURPLUS}
 * were pushed out, by family. They were for that count and for every smaller one; a policy that
 * counts more has to count again. Immutable.
 *
 * <pre>
 * block := (family:prefixed versions:varint)*          in ascending order of family
 * </pre>
 *
 * A file without this block has no such versions, or is of an earlier version of Stele, which did
 * not say: there they stay pushed out.
 */
final class SurplusCounts {
  /** The name of the block in an SSTable. */
  static final String NAME = "surplus";

  static final SurplusCounts NONE = new SurplusCounts(Map.of());

  private final Map<String, Integer> versions;

  private SurplusCounts(Map<String, Integer> versions) {
    this.versions = Map.copyOf(versions);
  }

  /** The block for these counts, by family. */
  static Bytes encode(Map<String, Integer> versions) {
    ByteWriter out = new ByteWriter(64);
    new TreeMap<>(versions)
        .forEach(
            (family, count) ->
                out.writePrefixed(family.getBytes(StandardCharsets.UTF_8)).writeVarint(count));
    return Bytes.wrap(out.toByteArray());
  }

  /**
   * Reads a block.
   *
   * @param file for messages
   */
  static SurplusCounts of(Optional<Bytes> block, String file) throws CorruptionException {
    if (block.isEmpty()) {
      return NONE;
    }
    Map<String, Integer> versions = new TreeMap<>();
    ByteReader in = new ByteReader(block.get().toByteArray());
    try {
      while (in.remaining() > 0) {
        versions.put(in.readPrefixed().toUtf8(), in.readVarint());
      }
    } catch (MalformedException e) {
      throw new CorruptionException(file, 0, "its block of surplus versions: " + e.getMessage(), e);
    }
    return new SurplusCounts(versions);
  }

  /**
   * The families of which {@code rules} count more versions.
   *
   * @param last the file's last operation: what it does not know of may have been gone before fewer
   *     versions counted
   */
  Set<String> fewerThan(SchemaRules rules, long last) {
    if (versions.isEmpty()) { // As nearly always, and every read asks.
      return Set.of();
    }
    SchemaRules then = rules.at(last);
    return versions.keySet().stream()
        .filter(family -> then.gc(family).countsMoreThan(versions.getOrDefault(family, 0)))
        .collect(Collectors.toUnmodifiableSet());
  }
}
