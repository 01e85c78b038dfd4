package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.record.FormerCount;
import io.stele.record.LoweredCounts;
import io.stele.record.LoweredCounts.Lowered;
import io.stele.record.PendingFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;

/**
 * Until which operation of a tablet its families counted more versions than they do now.
 *
 * <p>The table's node has the numbers, and in which order they were made lower ({@link
 * LoweredCounts}). When a tablet takes the new schema, everything it has was done under the higher
 * number. Its next SSTables have the moments, as a block; all files before these are older. If the
 * tablet is opened before it has such a file, the records of the log say which of them were made
 * after the alteration. Immutable.
 *
 * <pre>
 * block  := latest:varint family*
 * family := name:prefixed n:varint (alteration:varint through:varlong){n}
 * </pre>
 *
 * {@code latest} is the last alteration known when the file was written. A file without a block
 * knows of none.
 */
final class FormerCounts {
  /** The name of the block in an SSTable. */
  static final String NAME = "counts";

  /** No count was ever lower than before. */
  static final FormerCounts NONE = new FormerCounts(LoweredCounts.NONE, Map.of());

  /** The moments that a file knows, by family and alteration. */
  record Marks(int latest, Map<String, Map<Integer, Long>> through) {
    static final Marks NONE = new Marks(0, Map.of());

    /**
     * Reads a file's block.
     *
     * @param file for messages
     */
    static Marks of(Optional<Bytes> block, String file) throws CorruptionException {
      if (block.isEmpty()) {
        return NONE;
      }
      ByteReader in = new ByteReader(block.get().toByteArray());
      try {
        int latest = in.readVarint();
        Map<String, Map<Integer, Long>> through = new HashMap<>();
        while (in.remaining() > 0) {
          Map<Integer, Long> moments = new TreeMap<>();
          through.put(in.readPrefixed().toUtf8(), moments);
          for (int left = in.readVarint(); left > 0; left--) {
            int alteration = in.readVarint();
            moments.put(alteration, in.readVarlong());
          }
        }
        return new Marks(latest, through);
      } catch (MalformedException e) {
        throw new CorruptionException(file, 0, "its block of former counts: " + e.getMessage(), e);
      }
    }

    private long of(String family, int alteration) {
      return through.getOrDefault(family, Map.of()).getOrDefault(alteration, 0L);
    }
  }

  private final LoweredCounts lowered;
  private final int latest;
  private final Map<String, Map<Integer, Long>> through; // By family and alteration.

  private FormerCounts(LoweredCounts lowered, Map<String, Map<Integer, Long>> through) {
    this.lowered = lowered;
    this.latest = lowered.latest();
    this.through = through;
  }

  /**
   * The counts of a tablet that is being opened.
   *
   * @param files the newest first
   * @param lastBefore by alteration: the last sequence number before it, so far as the log tells
   */
  static FormerCounts of(
      LoweredCounts lowered, List<TabletFile> files, IntToLongFunction lastBefore) {
    List<TabletFile> own = files.stream().filter(file -> !PendingFile.isOfJob(file.ref())).toList();
    int known = own.isEmpty() ? 0 : own.get(0).marks().latest();
    Map<String, Map<Integer, Long>> through = new TreeMap<>();
    lowered
        .byFamily()
        .forEach(
            (family, counts) -> {
              Map<Integer, Long> moments = new TreeMap<>();
              for (Lowered one : counts) {
                int alteration = one.alteration();
                long moment = known < alteration ? lastBefore.applyAsLong(alteration) : 0;
                for (TabletFile file : own) {
                  boolean knows = file.marks().latest() >= alteration;
                  moment =
                      Math.max(
                          moment,
                          knows ? file.marks().of(family, alteration) : file.ref().maxSequence());
                }
                moments.put(alteration, moment);
              }
              through.put(family, moments);
            });
    return new FormerCounts(lowered, through);
  }

  /**
   * The former counts after further alterations.
   *
   * @param now what the table's node says after them
   * @param lastSequence the number of the tablet's last operation before them
   */
  FormerCounts altered(LoweredCounts now, long lastSequence) {
    if (now.equals(lowered)) {
      return this;
    }
    Map<String, Map<Integer, Long>> moments = new TreeMap<>();
    now.byFamily()
        .forEach(
            (family, counts) -> {
              Map<Integer, Long> before = through.getOrDefault(family, Map.of());
              Map<Integer, Long> after = new TreeMap<>();
              for (Lowered one : counts) {
                after.put(one.alteration(), before.getOrDefault(one.alteration(), lastSequence));
              }
              moments.put(family, after);
            });
    return new FormerCounts(now, moments);
  }

  /**
   * These former counts, where all alterations after {@code alteration} come after the operation
   * with number {@code sequence}.
   */
  FormerCounts after(long sequence, int alteration) {
    Map<String, Map<Integer, Long>> moments = new TreeMap<>();
    through.forEach(
        (family, before) -> {
          Map<Integer, Long> after = new TreeMap<>(before);
          after.replaceAll((one, moment) -> one > alteration ? Long.max(moment, sequence) : moment);
          moments.put(family, after);
        });
    return new FormerCounts(lowered, moments);
  }

  /** The last alteration by which a number became lower; 0: none. */
  int latest() {
    return latest;
  }

  /** The lowered counts as they were read from the table's node. */
  LoweredCounts lowered() {
    return lowered;
  }

  /** The former counts of each family, by name, as a pin keeps them. */
  Map<String, List<FormerCount>> byFamily() {
    Map<String, List<FormerCount>> all = new TreeMap<>();
    lowered
        .byFamily()
        .forEach(
            (family, counts) ->
                all.put(
                    family,
                    counts.stream()
                        .map(
                            one ->
                                new FormerCount(one.versions(), moment(family, one.alteration())))
                        .toList()));
    return all;
  }

  private long moment(String family, int alteration) {
    return through.getOrDefault(family, Map.of()).getOrDefault(alteration, 0L);
  }

  /** The block for a file that is written now; empty if it needs none. */
  Optional<Bytes> block() {
    if (lowered.equals(LoweredCounts.NONE)) {
      return Optional.empty();
    }
    ByteWriter out = new ByteWriter(64).writeVarint(latest);
    through.forEach(
        (family, moments) -> {
          out.writePrefixed(family.getBytes(StandardCharsets.UTF_8)).writeVarint(moments.size());
          moments.forEach((alteration, moment) -> out.writeVarint(alteration).writeVarlong(moment));
        });
    return Optional.of(Bytes.wrap(out.toByteArray()));
  }

  /**
   * The steps by which a family came to count {@code versions}: in ascending order of moments and
   * descending order of numbers. A number that a later alteration made higher again, or as high as
   * the present one, is none of them.
   *
   * @param counts in the order of the alterations
   */
  static List<FormerCount> steps(List<FormerCount> counts, int versions) {
    List<FormerCount> steps = new ArrayList<>();
    int above = versions;
    for (int i = counts.size() - 1; i >= 0; i--) {
      FormerCount one = counts.get(i);
      if (above > 0 && (one.versions() == 0 || one.versions() > above)) {
        above = one.versions();
        steps.removeIf(later -> later.through() <= one.through());
        steps.add(0, one);
      }
    }
    return List.copyOf(steps);
  }
}
