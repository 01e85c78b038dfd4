package io.stele.record;

import io.stele.model.CorruptionException;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * An SSTable as a part of one tablet: of the tablet's operations from one sequence number to
 * another, what they did to some of the families. Of two files that share a family and a row the
 * operations of one come after those of the other.
 *
 * @param path where it is, relative to the root directory
 * @param length its length in bytes
 * @param bounds the rows of it that belong to the tablet: after a split both children share files
 * @param minSequence the tablet's operations from this sequence number on ...
 * @param maxSequence ... to this one, both inclusive, are what the file holds
 * @param families ... as far as they concern these: those of its locality group when it was
 *     written. Of a job's file: those that it changed, and if it deletes rows, all that the table
 *     had when the file was taken, in one file of each writer
 * @param collectedMicros cells that were garbage before this time are not in the file; microseconds
 *     of the tablet's own time
 * @param operationsMicros the tablet's own time when the operations in the file were written down;
 *     where the file says an earlier one, all times of its operations are as much later. 0: the
 *     file has none
 * @param merged whether the tablet that wrote the file was merged with another since then
 * @param clearedAt 0; or these rows were cleared, as operation of this sequence number: they are
 *     kept for pins below it, and nobody else reads or compacts them
 * @param erased families that were dropped, after which other families may have got their names.
 *     Only pins below the given sequence number see their cells in the file
 */
public record FileRef(
    String path,
    long length,
    RowRange bounds,
    long minSequence,
    long maxSequence,
    SortedSet<String> families,
    long collectedMicros,
    long operationsMicros,
    boolean merged,
    long clearedAt,
    SortedMap<String, Long> erased) {

  public FileRef {
    erased = Collections.unmodifiableSortedMap(new TreeMap<>(erased));
    families = Collections.unmodifiableSortedSet(new TreeSet<>(families));
    if (path.isEmpty() || path.startsWith("/")) {
      throw new IllegalArgumentException(
          "a file's path must be relative to the root directory, not \"" + path + "\"");
    }
    if (length < 0 || minSequence < 0 || minSequence > maxSequence) {
      throw new IllegalArgumentException(
          "a file has a length of 0 or more and sequence numbers from low to high, not "
              + length
              + " and "
              + minSequence
              + " to "
              + maxSequence);
    }
  }

  /** A file of {@code length} bytes at {@code path}, of which {@code bounds} are the tablet's. */
  public static Builder builder(String path, long length, RowRange bounds) {
    return new Builder(path, length, bounds);
  }

  private Builder toBuilder() {
    return builder(path, length, bounds)
        .sequences(minSequence, maxSequence)
        .families(families)
        .collectedMicros(collectedMicros)
        .operationsMicros(operationsMicros)
        .merged(merged)
        .clearedAt(clearedAt)
        .erased(erased);
  }

  /** The same file with only the rows that are also in {@code other}; {@code other} meets them. */
  public FileRef clipped(RowRange other) {
    return toBuilder().bounds(bounds.intersection(other).orElseThrow()).build();
  }

  /** The same file, cleared by the operation of that sequence number. */
  FileRef cleared(long sequence) {
    return toBuilder().clearedAt(sequence).build();
  }

  /** Whether its rows were cleared: only pins from before that see them. */
  public boolean isCleared() {
    return clearedAt > 0;
  }

  /** The same file without {@code gone}, erased by the operation of that sequence number. */
  FileRef erased(Collection<String> gone, long sequence) {
    Set<String> left = new TreeSet<>(families);
    left.removeAll(gone);
    SortedMap<String, Long> all = new TreeMap<>(erased);
    families.stream().filter(gone::contains).forEach(family -> all.put(family, sequence));
    return toBuilder().families(left).erased(all).build();
  }

  /** Whether the file has cells of families that were erased. */
  public boolean hasErased() {
    return !erased.isEmpty();
  }

  /** The families whose cells a read at that point must not see, though the file has them. */
  public Set<String> erasedAt(long readPoint) {
    if (erased.isEmpty()) { // As nearly always, and every read asks.
      return Set.of();
    }
    SortedSet<String> hidden = new TreeSet<>();
    erased.forEach(
        (family, sequence) -> {
          if (sequence <= readPoint) {
            hidden.add(family);
          }
        });
    return hidden;
  }

  /** The families of which a read at that point may see cells. */
  public SortedSet<String> familiesAt(long readPoint) {
    if (erased.isEmpty()) {
      return families;
    }
    SortedSet<String> seen = new TreeSet<>(families);
    seen.addAll(erased.keySet());
    seen.removeAll(erasedAt(readPoint));
    return seen;
  }

  /** Whether a read at that point sees its rows, as far as clearing goes. */
  public boolean isSeenAt(long readPoint) {
    return clearedAt == 0 || readPoint < clearedAt;
  }

  /** The same as a file of a merged tablet, whose own time is that much ahead of this tablet's. */
  FileRef merged(long aheadMicros) {
    return toBuilder()
        .operationsMicros(operationsMicros == 0 ? 0 : Math.addExact(operationsMicros, aheadMicros))
        .merged(true)
        .build();
  }

  /**
   * Whether both hold what some operation did to some family of some row: no two files of a tablet
   * do. Of tablets that were merged the files of one and of the other may have the same sequence
   * numbers, but have no row in common. What was cleared is not counted: the rest of its file may
   * have been compacted since.
   */
  public boolean overlaps(FileRef other) {
    return clearedAt == 0
        && other.clearedAt == 0
        && minSequence <= other.maxSequence
        && other.minSequence <= maxSequence
        && bounds.intersection(other.bounds).isPresent()
        && !Collections.disjoint(families, other.families);
  }

  /**
   * Checks that an SSTable has no others than the tablet's operations that this reference of it
   * says. The cells of a job's file have no numbers of their own.
   *
   * @param cells how many the SSTable has; without any it has no operations
   * @param first the lowest sequence number in it
   * @param last the highest sequence number in it
   * @throws CorruptionException if it has others: it lies in the place of another file
   */
  public void checkSequences(long cells, long first, long last) throws CorruptionException {
    boolean isNumbered = cells > 0 && !PendingFile.isOfJob(this);
    if (isNumbered && (first < minSequence || last > maxSequence)) {
      throw new CorruptionException(
          path,
          0,
          "the file is misplaced: it has operations "
              + first
              + " to "
              + last
              + ", but the tablet's record says "
              + minSequence
              + " to "
              + maxSequence);
    }
  }

  @Override
  public String toString() {
    return path
        + " "
        + bounds
        + " #"
        + minSequence
        + "-"
        + maxSequence
        + " "
        + families
        + (isCleared() ? " cleared at #" + clearedAt : "")
        + (hasErased() ? " erased " + erased : "");
  }

  /** Builds a file's reference; what is not set is 0, false or empty. Not thread safe. */
  public static final class Builder {
    private final String path;
    private final long length;
    private RowRange bounds;
    private long minSequence;
    private long maxSequence;
    private Set<String> families = Set.of();
    private long collectedMicros;
    private long operationsMicros;
    private boolean merged;
    private long clearedAt;
    private Map<String, Long> erased = Map.of();

    private Builder(String path, long length, RowRange bounds) {
      this.path = path;
      this.length = length;
      this.bounds = bounds;
    }

    /** {@link FileRef#minSequence} and {@link FileRef#maxSequence}. */
    public Builder sequences(long min, long max) {
      minSequence = min;
      maxSequence = max;
      return this;
    }

    /** {@link FileRef#families}. */
    public Builder families(Collection<String> names) {
      families = new TreeSet<>(names);
      return this;
    }

    /** {@link FileRef#collectedMicros}. */
    public Builder collectedMicros(long micros) {
      collectedMicros = micros;
      return this;
    }

    /** {@link FileRef#operationsMicros}. */
    public Builder operationsMicros(long micros) {
      operationsMicros = micros;
      return this;
    }

    /** {@link FileRef#merged}. */
    public Builder merged(boolean since) {
      merged = since;
      return this;
    }

    /** {@link FileRef#clearedAt}. */
    public Builder clearedAt(long sequence) {
      clearedAt = sequence;
      return this;
    }

    /** {@link FileRef#erased}. */
    public Builder erased(Map<String, Long> families) {
      erased = families;
      return this;
    }

    private Builder bounds(RowRange rows) {
      bounds = rows;
      return this;
    }

    /**
     * The reference.
     *
     * @throws IllegalArgumentException if the path is absolute, the length negative, or the
     *     sequence numbers do not go from low to high
     */
    public FileRef build() {
      return new FileRef(
          path,
          length,
          bounds,
          minSequence,
          maxSequence,
          new TreeSet<>(families),
          collectedMicros,
          operationsMicros,
          merged,
          clearedAt,
          new TreeMap<>(erased));
    }
  }

  /**
   * Requires that a table has all families of the file.
   *
   * @throws SteleException REFUSED if it lacks one
   */
  public void requireFamilies(TableSchema schema) {
    for (String family : families) {
      if (schema.family(family).isEmpty()) {
        throw SteleException.refused(
            "file "
                + path
                + " has family "
                + family
                + ", which table "
                + schema.name()
                + " does not have");
      }
    }
  }
}
