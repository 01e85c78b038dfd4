package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.model.Bytes;
import io.stele.model.LocalityGroup;
import io.stele.record.FileRef;
import io.stele.sstable.SSTableOptions;
import io.stele.sstable.SSTableSummary;
import io.stele.sstable.SSTableWriter;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SSTables that one compaction writes, one per locality group: {@code
 * tables/<table>/<tablet>/<epoch>-<n>.sst}, with a name that no other server and no earlier run can
 * have used. A file is created with the first cell of its group; a tombstone of a whole row goes to
 * every group.
 *
 * <p>Each file being written takes memory, so that only some are written at once. If more groups
 * have cells, those that come later are left out, and the compaction goes over all cells once more,
 * in another {@link #nextRound round}.
 *
 * <p>Closing it deletes the files of all rounds, unless they are to be {@link #keep kept}. Not safe
 * for use by several threads.
 */
final class GroupWriters implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(GroupWriters.class);
  private static final int NAMES_TRIED = 1000;

  /**
   * The blocks of all files being written together take at most this part of the largest value, if
   * possible.
   */
  private static final int BLOCKS_SHARE = 16;

  private static final int BLOCK_BYTES_LEAST = 16 << 10;

  /**
   * A finished file.
   *
   * @param path relative to the root directory
   * @param families the compaction's families that are in its group
   * @param cells how many cells were written to it
   */
  record Written(String path, SSTableSummary summary, SortedSet<String> families, long cells) {}

  /** A group; it has a writer from its first cell on, which makes it one of the round. */
  private static final class Group {
    final LocalityGroup options;
    final SortedSet<String> families;
    Optional<SSTableWriter> writer = Optional.empty();
    long cells;
    final Map<String, OldestVersions.Finder> oldest = new TreeMap<>(); // By family with cells.

    Group(LocalityGroup options, SortedSet<String> families) {
      this.options = options;
      this.families = families;
    }
  }

  private final TabletEnvironment environment;
  private final SchemaRules rules;
  private final AtomicLong nextFile;
  private final String directory; // Relative to the root directory.
  private final long epoch;
  private final int filesAtOnceMax;
  private final List<Group> groupsLeft = new ArrayList<>(); // Not written in an earlier round.
  private final Map<String, Group> byFamily = new HashMap<>();
  private final AbandonedFiles abandoned;
  private final List<Path> begun = new ArrayList<>();
  private boolean kept;

  /** Paths of the files that the tablet's record named when the tablet was opened. */
  private final Set<String> namedAtOpening;

  // Of this round.
  private final Set<Group> written = new LinkedHashSet<>();
  private boolean needsRound = true; // Some groups with cells may not be written yet.

  // The family of the last cell, and its group if that is written: consecutive cells are mostly of
  // one family.
  private String lastFamily = "";
  private Optional<Group> lastGroup = Optional.empty();
  private OldestVersions.Finder lastOldest = new OldestVersions.Finder();

  /**
   * Writers for {@code families}; families that the schema does not have are skipped.
   *
   * @param nextFile supplies the numbers in file names
   * @param atOnce how many groups a round has at most
   */
  GroupWriters(
      TabletCore core,
      AtomicLong nextFile,
      SchemaRules rules,
      SortedSet<String> families,
      int atOnce) {
    this.environment = core.environment();
    this.rules = rules;
    this.nextFile = nextFile;
    this.directory = "tables/" + core.spec().id().table() + "/" + core.spec().id().name();
    this.epoch = core.spec().epoch();
    this.abandoned = core.abandoned();
    this.namedAtOpening =
        core.spec().files().stream().map(FileRef::path).collect(Collectors.toUnmodifiableSet());
    rules
        .byGroup(families)
        .forEach(
            (name, members) -> {
              Group group = new Group(rules.schema().group(name).orElseThrow(), members);
              groupsLeft.add(group);
              members.forEach(member -> byFamily.put(member, group));
            });
    if (groupsLeft.isEmpty()) { // All its families were dropped: only operations are left.
      groupsLeft.add(new Group(LocalityGroup.of(LocalityGroup.DEFAULT_NAME), families));
    }
    this.filesAtOnceMax = Math.min(atOnce, groupsLeft.size());
  }

  /**
   * Begins a round, the first or another one; false if no group was left out of the last. All cells
   * are to be added, from the first one on.
   */
  boolean nextRound() {
    for (Group group : written) { // Forgotten with all its memory.
      groupsLeft.remove(group);
      group.families.forEach(byFamily::remove);
    }
    written.clear();
    lastFamily = "";
    lastGroup = Optional.empty();
    boolean next = needsRound;
    needsRound = false;
    return next;
  }

  /** Adds a cell as one of {@code type}; {@code filter} has just judged it. */
  void add(CellCursor cell, CellType type, VersionFilter filter) throws IOException {
    if (filter.familyEnd() == filter.rowEnd()) {
      for (Group group : groupsLeft) {
        if (admits(group)) {
          add(cell, type, group);
        }
      }
      return;
    }
    if (!filter.family().equals(lastFamily)) {
      lastFamily = filter.family();
      lastGroup = Optional.ofNullable(byFamily.get(lastFamily)).filter(this::admits);
      if (lastGroup.isPresent()) {
        lastOldest =
            lastGroup.get().oldest.computeIfAbsent(lastFamily, name -> new OldestVersions.Finder());
      }
    }
    if (lastGroup.isPresent()) { // A dropped family may have tombstones left, of no use.
      add(cell, type, lastGroup.get());
      lastOldest.add(type, cell.timestamp());
    }
  }

  /** Whether a group, which has a cell now, is written in this round. */
  private boolean admits(Group group) {
    if (written.size() < filesAtOnceMax) {
      written.add(group);
      return true;
    }
    boolean isAdmitted = written.contains(group);
    needsRound |= !isAdmitted;
    return isAdmitted;
  }

  /** Adds a block of bytes to one of the files. */
  void metaBlock(String name, Bytes contents) throws IOException {
    begin().metaBlock(name, contents);
  }

  /** Begins a file if the round has none yet; returns the writer of one of its files. */
  SSTableWriter begin() throws IOException {
    if (written.isEmpty()) {
      written.add(groupsLeft.get(0));
    }
    return writer(written.iterator().next());
  }

  /** Finishes the files of this round. */
  List<Written> finishRound(long highestTimestamp) throws IOException {
    List<Written> finished = new ArrayList<>();
    for (Group group : written) {
      SSTableWriter writer = writer(group);
      Map<String, Integer> surplus = surplus(group);
      if (!surplus.isEmpty()) {
        writer.lastMetaBlock(SurplusCounts.NAME, SurplusCounts.encode(surplus));
      }
      writer.lastMetaBlock(OldestVersions.NAME, OldestVersions.encode(group.oldest));
      Optional<Bytes> counts = rules.counts().block();
      if (counts.isPresent()) {
        writer.lastMetaBlock(FormerCounts.NAME, counts.get());
      }
      writer.highestServerTimestamp(highestTimestamp);
      SSTableSummary summary = writer.finish();
      String path = directory + "/" + summary.path().getName();
      finished.add(new Written(path, summary, group.families, group.cells));
    }
    return finished;
  }

  /** The count by which versions were pushed out, by family with such versions. */
  private Map<String, Integer> surplus(Group group) {
    Map<String, Integer> surplus = new TreeMap<>();
    group.oldest.forEach(
        (family, oldest) -> {
          if (oldest.hasSurplus()) {
            surplus.put(family, rules.gc(family).versions());
          }
        });
    return surplus;
  }

  /** Makes {@link #close} keep the finished files. */
  void keep() {
    kept = true;
  }

  @Override
  public void close() {
    for (Group group : written) {
      if (group.writer.isPresent()) {
        try {
          group.writer.get().close();
        } catch (IOException e) {
          LOG.debug("The file is deleted again below", e);
        }
      }
    }
    if (!kept) {
      begun.forEach(abandoned::add);
      abandoned.delete();
    }
  }

  private void add(CellCursor cell, CellType type, Group group) throws IOException {
    writer(group).add(cell, type);
    group.cells++;
  }

  private SSTableWriter writer(Group group) throws IOException {
    if (group.writer.isEmpty()) {
      group.writer = Optional.of(create(SSTableOptions.of(withinMemory(group.options))));
    }
    return group.writer.get();
  }

  /**
   * The group with blocks small enough that those of all files being written fit into memory
   * together, one block each.
   */
  private LocalityGroup withinMemory(LocalityGroup group) {
    long fair = environment.options().valueBytesMax() / BLOCKS_SHARE / filesAtOnceMax;
    return group.withBlockBytes(
        (int) Math.min(group.blockBytes(), Math.max(BLOCK_BYTES_LEAST, fair)));
  }

  private SSTableWriter create(SSTableOptions options) throws IOException {
    for (int tried = 1; ; tried++) {
      String relative = directory + "/" + epoch + "-" + nextFile.getAndIncrement() + ".sst";
      Path path = new Path(environment.root(), relative);
      try {
        SSTableWriter writer =
            SSTableWriter.create(
                environment.fs(),
                path,
                options,
                environment.runtime().random().nextLong(),
                environment.options().replicasMin());
        begun.add(path);
        return writer;
      } catch (FileAlreadyExistsException e) {
        // An earlier opening of the tablet under this epoch has used this name.
        if (tried == NAMES_TRIED) {
          throw e;
        }
      } catch (IOException e) {
        if (!namedAtOpening.contains(relative)) {
          begun.add(path); // It may exist anyway.
        }
        throw e;
      }
    }
  }
}
