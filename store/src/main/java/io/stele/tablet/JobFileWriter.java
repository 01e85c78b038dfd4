package io.stele.tablet;

import io.stele.format.ByteWriter;
import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.MutationBlock;
import io.stele.log.LogOptions;
import io.stele.memtable.Memtable;
import io.stele.model.Bytes;
import io.stele.model.Edit;
import io.stele.model.Limits;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.OperationSize;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import io.stele.record.PutTimestamps;
import io.stele.sstable.SSTableOptions;
import io.stele.sstable.SSTableSummary;
import io.stele.sstable.SSTableWriter;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Writes the SSTables of a job, one for each locality group that has cells: {@code
 * bulk/<job>/<name>-<n>.sst}. They belong to no tablet until tablets take them. So everything that
 * a tablet would refuse is refused here.
 *
 * <p>Mutations come in the order of their rows. Those of one row are one change, in the order in
 * which they come. Closing it deletes the files unless they were finished. Not safe for use by
 * several threads.
 */
public final class JobFileWriter implements Closeable {
  private static final int ROW_BYTES = 1024; // Room for the cells of a row, before it grows.

  /**
   * Where and how files are written.
   *
   * @param fs has the root directory
   * @param root the root directory
   * @param job whose files these are
   * @param name the start of the files' names: no other writer of the job may have it
   * @param schema of the table
   * @param timestamps of puts that have none, the same for all attempts
   */
  public record Target(
      FileSystem fs,
      Path root,
      String job,
      String name,
      TableSchema schema,
      PutTimestamps timestamps) {
    /** With the same timestamp, in microseconds, for all rows. */
    public Target(
        FileSystem fs,
        Path root,
        String job,
        String name,
        TableSchema schema,
        long timestampMicros) {
      this(fs, root, job, name, schema, PutTimestamps.always(timestampMicros));
    }
  }

  private static final class Group {
    final LocalityGroup options;
    final List<Family> families = new ArrayList<>();
    Optional<SSTableWriter> writer = Optional.empty();
    boolean deletesRows;

    Group(LocalityGroup options) {
      this.options = options;
    }

    /** Those to which its file did something: another may be dropped without regard to the job. */
    Set<String> changed() {
      Set<String> names = new TreeSet<>();
      families.stream()
          .filter(family -> deletesRows || family.changed)
          .forEach(family -> names.add(family.name));
      return names;
    }
  }

  private static final class Family {
    final String name;
    final Group group;
    boolean changed;

    Family(String name, Group group) {
      this.name = name;
      this.group = group;
    }
  }

  private final Target target;
  private final SchemaRules rules;
  private final RandomGenerator random;
  private final long valueBytesMax;
  private final int replicasMin;
  private final Map<String, Group> groups = new TreeMap<>(); // By name.
  private final Map<String, Family> families = new HashMap<>(); // By name.
  private final List<Path> begun = new ArrayList<>();
  private final List<Edit> edits = new ArrayList<>(); // The last ones of the last row.
  private final List<CellCursor> earlier = new ArrayList<>(); // What that row gets before those.
  private int earlierEdits; // How many that are.
  private final CellBlockWriter row = CellBlockWriter.sequential(ROW_BYTES);
  private long lastBytes; // Of all of them, as cells.
  private Bytes firstRow = Bytes.EMPTY;
  private Bytes lastRow = Bytes.EMPTY;
  private boolean finished;

  /**
   * A writer of files with the default minimum of replicas.
   *
   * @param valueBytesMax the longest value that the table takes
   */
  public JobFileWriter(Target target, RandomGenerator random, long valueBytesMax) {
    this(target, random, valueBytesMax, LogOptions.DEFAULT.replicasMin());
  }

  /**
   * A writer; no file is there before there are cells for it.
   *
   * @param valueBytesMax the longest value that the table takes
   * @param replicasMin how many replicas each file must have; or as many as files here have, if
   *     that is less
   */
  public JobFileWriter(Target target, RandomGenerator random, long valueBytesMax, int replicasMin) {
    this.target = target;
    this.rules = new SchemaRules(target.schema());
    this.random = random;
    this.valueBytesMax = valueBytesMax;
    this.replicasMin = replicasMin;
    rules
        .byGroup(rules.families())
        .forEach(
            (name, members) -> {
              Group group = new Group(target.schema().group(name).orElseThrow());
              groups.put(name, group);
              for (String member : members) {
                Family family = new Family(member, group);
                group.families.add(family);
                families.put(member, family);
              }
            });
  }

  /**
   * Adds what a mutation does to its row.
   *
   * @throws io.stele.model.SteleException REFUSED if the schema or a limit forbids it
   * @throws IllegalArgumentException if its row is before that of the last one
   */
  public void add(Mutation mutation) throws IOException {
    rules.operations().check(mutation, valueBytesMax);
    int order = mutation.row().compareTo(lastRow);
    if (order < 0) {
      throw new IllegalArgumentException(
          "row \"" + mutation.row() + "\" comes after \"" + lastRow + "\"");
    }
    if (order > 0) {
      begin(mutation.row());
    }
    lastBytes += OperationSize.of(mutation);
    Limits.checkMutationBytes(lastRow, lastBytes);
    if (edits.size() + mutation.edits().size() > Limits.EDITS_MAX) {
      putAside(); // One mutation has no more; a row may.
    }
    edits.addAll(mutation.edits());
  }

  private void begin(Bytes next) throws IOException {
    writeLast();
    firstRow = lastRow.isEmpty() ? next.compact() : firstRow;
    lastRow = next;
  }

  /** Adds a whole row, above the last one: the cells of one mutation, a block of them. */
  void addRow(Bytes above, byte[] block, int offset, int length) throws IOException {
    begin(above);
    write(block, offset, length);
  }

  /** Adds a whole row, above the last one: the cells of several mutations, in any order. */
  void addRow(Bytes above, List<CellCursor> changes) throws IOException {
    begin(above);
    writeSorted(changes);
  }

  /** About how many bytes were written. */
  public long bytes() {
    long bytes = 0;
    for (Group group : groups.values()) {
      bytes += group.writer.map(SSTableWriter::length).orElse(0L);
    }
    return bytes;
  }

  /**
   * Ends the files and puts them on disk.
   *
   * @return the files, each with exactly the rows from the first to the last that were added
   */
  public List<FileRef> finish() throws IOException {
    writeLast();
    List<FileRef> files = new ArrayList<>();
    for (Group group : groups.values()) {
      if (group.writer.isPresent()) {
        // The tablets that take it assign only higher ones from then on. Pinned ones do anyway.
        group.writer.get().highestServerTimestamp(target.timestamps().elsewhere());
        SSTableSummary summary = group.writer.get().finish();
        files.add(
            PendingFile.unnumbered(
                PendingFile.directory(target.job()) + "/" + summary.path().getName(),
                summary.length(),
                new RowRange(firstRow, lastRow.successor()),
                group.changed()));
      }
    }
    finished = true;
    return files;
  }

  private void writeLast() throws IOException {
    if (!earlier.isEmpty()) {
      putAside();
      writeSorted(earlier);
      earlier.clear();
      earlierEdits = 0;
    } else if (!edits.isEmpty()) {
      ByteWriter block = encodeEdits();
      write(block.array(), 0, block.size());
      row.clear();
      edits.clear();
    }
    lastBytes = 0;
  }

  /** The edits as cells, until {@link #row} is cleared. */
  private ByteWriter encodeEdits() {
    Mutation mutation = new Mutation(lastRow, edits);
    long timestamp = target.timestamps().at(lastRow);
    MutationBlock.write(mutation, PendingFile.UNNUMBERED, timestamp, row);
    return row.finish();
  }

  private void putAside() {
    byte[] block = encodeEdits().toByteArray();
    earlier.add(new LaterEdits(CellBlockCursor.sequential(block, 0, block.length), earlierEdits));
    earlierEdits += edits.size();
    row.clear();
    edits.clear();
  }

  private void write(byte[] block, int offset, int length) throws IOException {
    CellCursor cells = CellBlockCursor.sequential(block, offset, length);
    if (isInOrder(block, offset, length)) {
      write(cells);
    } else {
      writeSorted(List.of(cells));
    }
  }

  /** The cells of most rows are: then nothing has to be sorted. */
  private static boolean isInOrder(byte[] block, int offset, int length) throws IOException {
    CellCursor last = CellBlockCursor.sequential(block, offset, length);
    CellCursor cells = CellBlockCursor.sequential(block, offset, length);
    cells.next();
    while (cells.next()) {
      last.next();
      if (CellCursor.compare(last, cells) >= 0) {
        return false;
      }
    }
    return true;
  }

  private void writeSorted(List<CellCursor> changes) throws IOException {
    Memtable sorted = new Memtable();
    try {
      for (CellCursor cells : changes) {
        while (cells.next()) {
          sorted.add(cells);
        }
      }
      write(sorted.cursor(Long.MAX_VALUE));
    } finally {
      sorted.release();
    }
  }

  private void write(CellCursor cells) throws IOException {
    while (cells.next()) {
      int rowEnd = ColumnKey.rowPartLength(cells.key(), cells.keyLength());
      int familyEnd = ColumnKey.familyPartEnd(cells.key(), cells.keyLength(), rowEnd);
      if (familyEnd == rowEnd) { // The tombstone of a row.
        for (Group group : groups.values()) {
          group.deletesRows = true;
          writer(group).add(cells);
        }
      } else {
        Family family = family(ColumnKey.family(cells.key(), rowEnd, familyEnd));
        family.changed = true;
        writer(family.group).add(cells);
      }
    }
  }

  private Family family(String name) {
    Family family = families.get(name);
    if (family == null) {
      throw new IllegalStateException("family " + name + " was checked");
    }
    return family;
  }

  private SSTableWriter writer(Group group) throws IOException {
    if (group.writer.isEmpty()) {
      String file =
          PendingFile.directory(target.job()) + "/" + target.name() + "-" + begun.size() + ".sst";
      Path path = new Path(target.root(), file);
      group.writer = Optional.of(create(path, group));
    }
    return group.writer.get();
  }

  private SSTableWriter create(Path path, Group group) throws IOException {
    SSTableOptions options = SSTableOptions.of(group.options);
    try {
      SSTableWriter writer =
          SSTableWriter.create(target.fs(), path, options, random.nextLong(), replicasMin);
      begun.add(path);
      return writer;
    } catch (FileAlreadyExistsException e) {
      throw e; // It is another's, which may be needed.
    } catch (IOException e) {
      begun.add(path); // It may exist anyway.
      throw e;
    }
  }

  @Override
  public void close() throws IOException {
    if (!finished) {
      finished = true;
      for (Group group : groups.values()) {
        if (group.writer.isPresent()) {
          group.writer.get().close();
        }
      }
      for (Path path : begun) {
        target.fs().delete(path, false);
      }
    }
  }
}
