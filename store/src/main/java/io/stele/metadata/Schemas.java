package io.stele.metadata;

import static io.stele.metadata.DroppedFamilies.ANY_JOB;

import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.CorruptionException;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.NewerFormatException;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableId;
import io.stele.model.TableRules;
import io.stele.model.TableSchema;
import io.stele.record.LoweredCounts;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The schemas of tables, in the lock service.
 *
 * <p>A table is created in steps, each of which can be repeated: its name ({@link TableNames}), its
 * node (CREATING, with the rows at which it is split), its rows in METADATA, READY. It is dropped
 * in steps as well: DROPPING, rows and files, node, name. The master does both; every change is
 * conditional on the node's version. It is refused with {@link NewerFormatException} if the node
 * requires features that this version does not know.
 *
 * <p>The schemas of the root tablet and of METADATA are constants. Safe for use by any number of
 * threads.
 */
public final class Schemas {
  /** The schema of the root tablet: as {@link #METADATA_SCHEMA}, never split. */
  public static final TableSchema ROOT_SCHEMA = system("stele.root", Long.MAX_VALUE);

  /** The schema of METADATA. */
  public static final TableSchema METADATA_SCHEMA = system("stele.metadata", 64L << 20);

  private static final Logger LOG = LoggerFactory.getLogger(Schemas.class);
  private static final int METADATA_BLOCK_BYTES = 8 << 10;
  private static final int EVENTS_KEPT = 50;
  private static final String LOCATION_GROUP = "location";

  private final ProcessRuntime runtime;
  private final LockService locks;
  private final TableSchema metadata;
  private final TableNames names;
  private final JobNodes jobs;

  /** Schemas in {@code locks}. */
  public Schemas(ProcessRuntime runtime, LockService locks) {
    this(runtime, locks, METADATA_SCHEMA.splitBytes());
  }

  /**
   * Schemas in {@code locks}.
   *
   * @param metadataSplitBytes the size above which tablets of METADATA are split
   */
  public Schemas(ProcessRuntime runtime, LockService locks, long metadataSplitBytes) {
    this.runtime = runtime;
    this.locks = locks;
    this.names = new TableNames(runtime, locks);
    this.jobs = new JobNodes(runtime, locks);
    this.metadata = METADATA_SCHEMA.withSplitBytes(metadataSplitBytes);
  }

  private static TableSchema system(String name, long splitBytes) {
    List<ColumnFamily> families = new ArrayList<>();
    for (String family :
        List.of(
            RecordCodec.FILES,
            RecordCodec.LOGS,
            RecordCodec.REDO,
            RecordCodec.DROPPED,
            RecordCodec.TROUBLE,
            RecordCodec.PINS,
            RecordCodec.PENDING)) {
      families.add(ColumnFamily.of(family));
    }
    families.add(new ColumnFamily(RecordCodec.EVENTS, GcPolicy.maxVersions(EVENTS_KEPT)));
    // Exactly what every location lookup reads.
    for (String family : List.of(RecordCodec.EXTENT, RecordCodec.ASSIGNMENT, RecordCodec.SPLIT)) {
      families.add(ColumnFamily.of(family).in(LOCATION_GROUP));
    }
    return TableSchema.of(name, families, LocalityGroup.of(LOCATION_GROUP).withInMemory(true))
        .withBlockBytes(METADATA_BLOCK_BYTES)
        .withSplitBytes(splitBytes)
        .withHsync(true);
  }

  /** See {@link JobNodes#beginClearing}. */
  public void beginClearing(String name, SchemaChange change) throws IOException {
    jobs.beginClearing(name, change);
  }

  /** See {@link JobNodes#endClearing}. */
  public void endClearing(SchemaChange change) throws IOException {
    jobs.endClearing(change);
  }

  /** The names, and the schema changes made under them. */
  public TableNames names() {
    return names;
  }

  /** The table of that id, in any state; also for the root tablet and METADATA. */
  public Optional<StoredTable> table(TableId id) throws IOException {
    if (id.isSystem()) {
      TableSchema schema = id.equals(TableId.ROOT) ? ROOT_SCHEMA : metadata;
      return Optional.of(
          new StoredTable(
              id,
              schema,
              StoredTable.State.READY,
              DroppedFamilies.NONE,
              LoweredCounts.NONE,
              List.of(),
              Set.of(),
              0));
    }
    Optional<VersionedData> data = locks.read(LockPaths.table(id));
    return data.isEmpty()
        ? Optional.empty()
        : Optional.of(TableCodec.decode(id, data.get().data(), data.get().version()));
  }

  /** The table of that name, if it is READY; also for the names of the root tablet and METADATA. */
  public Optional<StoredTable> byName(String name) throws IOException {
    return holder(name).filter(table -> table.state() == StoredTable.State.READY);
  }

  /** The table that has that name, in any state. */
  public Optional<StoredTable> holder(String name) throws IOException {
    if (name.equals(ROOT_SCHEMA.name())) {
      return table(TableId.ROOT);
    } else if (name.equals(METADATA_SCHEMA.name())) {
      return table(TableId.METADATA);
    }
    Optional<TableId> id = names.holder(name);
    return id.isEmpty() ? Optional.empty() : table(id.get());
  }

  /**
   * The table of that name.
   *
   * @throws SteleException NOT_FOUND if there is none, RETRY_LATER if it is being created
   */
  public StoredTable require(String name) throws IOException {
    Optional<StoredTable> holder = holder(name);
    if (holder.isPresent()) {
      switch (holder.get().state()) {
        case READY -> {
          return holder.get();
        }
        case CREATING ->
            throw SteleException.retryLater("table " + Bytes.of(name) + " is still being created");
        case DROPPING -> {}
      }
    }
    throw SteleException.notFound(missing(name));
  }

  /** That there is no table of that name, and which there is that is spelled so. */
  public String missing(String name) throws IOException {
    List<String> near = new ArrayList<>();
    for (String other : names.all()) {
      // A name may have a node and no table: changes of a dropped one are remembered.
      if (Keys.misspelled(name, List.of(other)).isPresent() && isTaken(other)) {
        near.add(other);
      }
    }
    return "there is no table "
        + Bytes.of(name)
        + Keys.misspelled(name, near)
            .map(other -> "; did you mean " + other + "?")
            .orElse("; `stele table list` shows them all");
  }

  private boolean isTaken(String name) throws IOException {
    try {
      return names.holder(name).isPresent();
    } catch (CorruptionException | NewerFormatException e) {
      LOG.debug("The name {} in ZooKeeper cannot be read", name, e);
      return true; // Whatever is in it.
    }
  }

  /**
   * The tables in the lock service.
   *
   * @param tables in any state
   * @param damaged the names of nodes that cannot be read as tables
   * @param newer the names of nodes that a newer version wrote, and this one does not understand
   */
  public record Listing(List<StoredTable> tables, List<String> damaged, List<String> newer) {
    public Listing {
      tables = List.copyOf(tables);
      damaged = List.copyOf(damaged);
      newer = List.copyOf(newer);
    }

    /** The names of all nodes that could not be read. */
    public List<String> unread() {
      return Stream.concat(damaged.stream(), newer.stream()).toList();
    }
  }

  /**
   * The ids of all tables that have nodes in the lock service, at the cost of one read; names that
   * are no ids are left out.
   */
  public Set<TableId> ids() throws IOException {
    Set<TableId> ids = new TreeSet<>();
    for (String id : locks.children(LockPaths.TABLES)) {
      try {
        ids.add(new TableId(id));
      } catch (IllegalArgumentException e) {
        LOG.error("{}/{} in ZooKeeper is not the id of a table", LockPaths.TABLES, id, e);
      }
    }
    return ids;
  }

  /** All tables in the lock service; one that cannot be read is logged and hides no others. */
  public Listing list() throws IOException {
    List<StoredTable> tables = new ArrayList<>();
    List<String> damaged = new ArrayList<>();
    List<String> newer = new ArrayList<>();
    for (String id : locks.children(LockPaths.TABLES)) {
      try {
        table(new TableId(id)).ifPresent(tables::add);
      } catch (CorruptionException e) {
        LOG.error("{}/{} in ZooKeeper cannot be decoded as a table", LockPaths.TABLES, id, e);
        damaged.add(id);
      } catch (IllegalArgumentException | NewerFormatException e) { // Or its name is no id.
        LOG.error("{}/{} in ZooKeeper is not understood", LockPaths.TABLES, id, e);
        newer.add(id);
      }
    }
    return new Listing(tables, damaged, newer);
  }

  /**
   * Refuses a schema that the node of {@code table} has no room for, with the other things in it.
   *
   * @throws SteleException REFUSED
   */
  public void requireRoom(StoredTable table, TableSchema schema) throws IOException {
    requireRoom(changed(table, schema, table.state(), droppedAfter(table, schema), 0));
  }

  /**
   * Refuses a new table that has no room in a node.
   *
   * @throws SteleException REFUSED
   */
  public void requireRoom(TableSchema schema, List<Bytes> splitRows) {
    requireRoom(newTable(new TableId("t1"), schema, splitRows)); // Its id is not in the node.
  }

  private void requireRoom(StoredTable table) {
    String path = LockPaths.table(table.id());
    LockPaths.check(path, TableCodec.encode(table, newChange()), path);
  }

  private static StoredTable newTable(TableId id, TableSchema schema, List<Bytes> splitRows) {
    return new StoredTable(
        id,
        schema,
        StoredTable.State.CREATING,
        DroppedFamilies.NONE,
        LoweredCounts.NONE,
        splitRows,
        Set.of(),
        0);
  }

  /**
   * Writes the node of a new table, CREATING; does nothing if it already exists.
   *
   * @param id from {@link #nextId}
   * @throws SteleException REFUSED if {@link TableRules} do not allow it
   */
  public void create(TableId id, TableSchema schema, List<Bytes> splitRows) throws IOException {
    TableRules.checkNew(schema, splitRows);
    StoredTable table = newTable(id, schema, splitRows);
    try {
      locks.create(LockPaths.table(id), TableCodec.encode(table, newChange()));
    } catch (SteleException e) {
      if (locks.read(LockPaths.table(id)).isEmpty()) {
        throw e;
      }
      LOG.debug("Table {} has its node already", id, e);
    }
  }

  /**
   * Changes a table's state to {@code state}.
   *
   * @throws SteleException RETRY_LATER if the table was changed meanwhile
   */
  public StoredTable advance(StoredTable table, StoredTable.State state) throws IOException {
    return write(table, table.schema(), state, table.dropped());
  }

  /**
   * Changes a table's schema. If it has families with the names of dropped ones, the dropped
   * families must already be erased from all tablets.
   *
   * @throws SteleException REFUSED if {@link TableRules} do not allow it, or the node has no room
   *     for it: nothing was changed
   * @throws SteleException RETRY_LATER if the table was changed meanwhile
   */
  public StoredTable alter(StoredTable table, TableSchema schema) throws IOException {
    TableRules.checkChange(table.schema(), schema);
    return noteJobs(write(table, schema, table.state(), droppedAfter(table, schema)));
  }

  private DroppedFamilies droppedAfter(StoredTable table, TableSchema schema) throws IOException {
    Set<String> before = namesOf(table.schema());
    Set<String> after = namesOf(schema);
    before.removeAll(after);
    DroppedFamilies dropped = table.dropped().without(after);
    if (before.isEmpty()) {
      return dropped;
    }
    // Which jobs may have written to the families is known when these are gone, and not before. If
    // the change ends in between, any job may have.
    List<String> any = Stream.concat(jobs.namesOfWriters().stream(), Stream.of(ANY_JOB)).toList();
    return dropped.and(before, any);
  }

  /**
   * Notes which jobs may have cells of the dropped families, if {@link #alter} ended before that.
   * If the node has no room for their names, any job may have.
   *
   * @throws SteleException RETRY_LATER if the table was changed meanwhile
   */
  public StoredTable noteJobs(StoredTable table) throws IOException {
    DroppedFamilies dropped = table.dropped();
    if (dropped.under(ANY_JOB).isEmpty()) {
      return table;
    }
    try {
      return write(
          table, table.schema(), table.state(), dropped.and(Set.of(), jobs.namesOfWriters()));
    } catch (SteleException e) {
      if (e.code() != Code.REFUSED) {
        throw e;
      }
      LOG.warn("The node of table {} has no room for the names of jobs", table.id(), e);
      return table;
    }
  }

  private static Set<String> namesOf(TableSchema schema) {
    return schema.families().stream()
        .map(ColumnFamily::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * A job that is not over, and may have cells of dropped families in files that no tablet has yet.
   *
   * @param families names of families that the table once had
   */
  public Optional<String> jobWithDropped(StoredTable table, Set<String> families)
      throws IOException {
    Collection<String> under = table.dropped().jobsOf(families);
    for (String job : under.contains(ANY_JOB) ? jobs.namesOfWriters() : under) {
      if (jobs.stateOfOther(job) == JobNodes.State.BEGUN) {
        return Optional.of(job);
      }
    }
    return Optional.empty();
  }

  /**
   * Deletes the table's node: the last step of a drop.
   *
   * @return whether it is deleted; false if the table was changed meanwhile
   */
  public boolean delete(StoredTable table) throws IOException {
    table.requireChangeable();
    return locks.delete(LockPaths.table(table.id()), table.version())
        || locks.read(LockPaths.table(table.id())).isEmpty();
  }

  private StoredTable write(
      StoredTable table, TableSchema schema, StoredTable.State state, DroppedFamilies dropped)
      throws IOException {
    table.requireChangeable();
    StoredTable next = changed(table, schema, state, dropped, table.version());
    OptionalInt version =
        locks.write(
            LockPaths.table(table.id()), TableCodec.encode(next, newChange()), table.version());
    if (version.isEmpty()) {
      throw SteleException.retryLater(
          "table " + schema.name() + " was changed by somebody else: try again");
    }
    return changed(table, schema, state, dropped, version.getAsInt());
  }

  private static StoredTable changed(
      StoredTable table,
      TableSchema schema,
      StoredTable.State state,
      DroppedFamilies dropped,
      int version) {
    return new StoredTable(
        table.id(),
        schema,
        state,
        dropped,
        table.lowered().altered(table.schema(), schema, table.version() + 1),
        table.splitRows(),
        Set.of(), // What this version writes requires nothing.
        version);
  }

  /** An id for a new table, which no table ever had. */
  public TableId nextId() throws IOException {
    return new TableIds(runtime, locks).next();
  }

  private String newChange() {
    return UniqueName.of(runtime);
  }
}
