package io.stele.tabletserver;

import io.stele.files.NameSpace;
import io.stele.log.FencedLogs;
import io.stele.log.RecordSource;
import io.stele.memtable.MemoryAccount;
import io.stele.metadata.Assignment;
import io.stele.metadata.LockServiceCopy;
import io.stele.metadata.Schemas;
import io.stele.metadata.SplitRecords;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.Bytes;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.record.ManifestEdit;
import io.stele.runtime.FreshRead;
import io.stele.runtime.Futures;
import io.stele.runtime.IoFunction;
import io.stele.tablet.CompactionPace;
import io.stele.tablet.ReadRequest;
import io.stele.tablet.Tablet;
import io.stele.tablet.TabletEnvironment;
import io.stele.tablet.TabletLog;
import io.stele.tablet.TabletSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens tablets: from their records if the master assigned them, from their parent if they come
 * from a split.
 *
 * <p>Safe for use by any number of threads.
 */
final class TabletLoader {
  private static final Logger LOG = LoggerFactory.getLogger(TabletLoader.class);

  /** A change of the root tablet's record is not held up for longer by its copy. */
  private static final Duration COPY_PATIENCE = Duration.ofSeconds(5);

  private final ServerContext server;
  private final TabletRecordReader assignments;
  private final Schemas schemas;
  private final TabletStorage storage;
  private final FencedLogs fenced;
  private final FreshRead<Boolean> namesSeen;
  private final Map<TableId, FreshRead<Optional<StoredTable>>> tables = new ConcurrentHashMap<>();
  private final SplitRecords splits;
  private final ReplayRoom userRoom;
  private final ReplayRoom systemRoom;
  private final LockServiceCopy copy;

  /**
   * A loader for {@code server}.
   *
   * @param assignments reads what is to be loaded, and does not wait long: where METADATA cannot be
   *     reached from here, another server is to load it
   * @param replayBytes how much memory it may take for logs that several tablets need
   * @param copy gets the root tablet's record whenever it changes
   */
  TabletLoader(
      ServerContext server,
      TabletRecordReader assignments,
      Schemas schemas,
      TabletStorage storage,
      int replayBytes,
      LockServiceCopy copy) {
    this.copy = copy;
    this.server = server;
    this.assignments = assignments;
    this.schemas = schemas;
    this.storage = storage;
    this.splits = new SplitRecords(server.records());
    this.fenced = new FencedLogs(server.runtime(), storage.fs(), replayBytes);
    this.namesSeen =
        new FreshRead<>(
            server.runtime(),
            () -> {
              NameSpace.catchUp(storage.fs(), storage.layout().root());
              return true;
            });
    this.userRoom = new ReplayRoom(server, TabletKind.USER);
    this.systemRoom = new ReplayRoom(server, TabletKind.SYSTEM);
  }

  /**
   * Loads a tablet that the master has assigned to this server, and serves it.
   *
   * @param row the key of its row in METADATA; empty for the root tablet
   * @param epoch of the assignment
   * @param sinceNanos when this was requested, by the runtime's clock: nothing that can change and
   *     was read before is used, so all of it is newer than the assignment
   * @throws NotAssignedException if the record does not, or no longer, assign the tablet to this
   *     server for loading
   * @throws IOException if it cannot be opened; the record stays ASSIGNED, and loading may be
   *     retried
   */
  void load(TabletId id, Bytes row, long epoch, long sinceNanos) throws IOException {
    server.tablets().loading(id.table());
    try {
      loadAndServe(id, row, epoch, sinceNanos);
    } finally {
      server.tablets().loadingEnded(id.table());
    }
  }

  private void loadAndServe(TabletId id, Bytes row, long epoch, long sinceNanos)
      throws IOException {
    TabletRecord record = assigned(id, row, epoch);
    namesSeen.since(sinceNanos); // Another server has written the files that it names.
    splits.removeTentatives(record);
    StoredTable table = table(id, sinceNanos);
    RecordManifest manifest = manifest(record);
    HostedTablet hosted = openReplaying(record, table, manifest, sinceNanos);
    server.tablets().coming(hosted);
    try {
      markRoot(hosted);
      takeOver(hosted);
      serve(hosted, table);
    } finally {
      server.tablets().noLongerComing(hosted);
    }
    if (id.equals(TabletId.ROOT)) {
      beginCopy(hosted.record());
    }
    LOG.info(
        "Loaded tablet {}: {} records replayed from {}",
        record,
        hosted.tablet().replayedRecords(),
        record.logs());
  }

  /** Before anything is served under this epoch. */
  private void markRoot(HostedTablet hosted) throws IOException {
    if (hosted.id().equals(TabletId.ROOT)) {
      try {
        copy.markRoot(hosted.record().assignment().epoch());
      } catch (IOException | RuntimeException e) {
        hosted.tablet().close();
        throw e;
      }
    }
  }

  /** Begins to copy the root tablet's record; returns what is complete when that has ended. */
  private CompletableFuture<Boolean> beginCopy(TabletRecord root) {
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    server
        .runtime()
        .start(
            "copy-root",
            () -> {
              try {
                copy.copyRoot(root);
              } catch (IOException | SteleException e) {
                LOG.warn("The root tablet's record could not be copied; the master retries", e);
              } finally {
                ended.complete(true);
              }
            });
    return ended;
  }

  /** Copies a record, so that what it names no more may be deleted; but does not wait for long. */
  private void copyRoot(TabletRecord root) {
    try {
      if (!server.runtime().await(beginCopy(root), COPY_PATIENCE)) {
        LOG.warn("Copying the root tablet's record takes longer than {}", COPY_PATIENCE);
      }
    } catch (InterruptedException e) {
      LOG.info(
          "The server stops while the root tablet's record is copied",
          Futures.interrupted(e, "copying the root tablet's record"));
    }
  }

  private void takeOver(HostedTablet hosted) throws IOException {
    try {
      hosted.manifest().take(server.records()::loaded);
    } catch (IOException | RuntimeException e) {
      hosted.tablet().close();
      throw e;
    }
  }

  /** Nothing here waits or does I/O: a tablet whose record says LOADED must be served at once. */
  private void serve(HostedTablet hosted, StoredTable table) {
    try {
      server.tablets().add(hosted, table);
    } catch (RuntimeException e) {
      server.life().abort("tablet " + hosted.id() + " is loaded and cannot be served: " + e);
      throw e;
    }
  }

  /**
   * Opens one half of a split before it is made.
   *
   * @param parent the record of the tablet to be split; once the half has its own record, that is
   *     {@link RecordManifest#written}
   */
  HostedTablet openHalf(TabletSpec half, TabletRecord parent) throws IOException {
    return open(
        half,
        manifest(parent),
        RecordSource.of(List.of()),
        server.resources().of(half.id()).memtables());
  }

  /**
   * Opens a tablet that another server may be serving, reads its first rows, and closes it.
   *
   * @throws IOException if that fails; the other server may have deleted its files meanwhile
   */
  void warmUp(TabletRecord record) throws IOException {
    TabletSpec spec = spec(record, table(record.id(), server.runtime().nanoTime()));
    HostedTablet hosted =
        open(
            spec,
            manifest(record),
            RecordSource.of(List.of()),
            server.resources().of(record.id()).memtables());
    try {
      hosted.tablet().read(ReadRequest.of(RowQuery.ALL));
    } finally {
      hosted.tablet().close();
    }
  }

  /** Whether the tablet's record names logs of earlier servers. */
  boolean hasReplayToCover(HostedTablet hosted) {
    return hosted.record().logs().stream().anyMatch(log -> !log.equals(server.id()));
  }

  /**
   * Makes the logs of earlier servers unnecessary: writes the records replayed from them to an
   * SSTable, or, if they had nothing of the tablet, only removes the logs from the record.
   */
  void coverReplay(HostedTablet hosted) throws IOException {
    if (hosted.tablet().hasReplayed()) {
      hosted.tablet().minorCompact();
    } else if (hasReplayToCover(hosted)) {
      hosted
          .manifest()
          .change(
              before ->
                  server
                      .records()
                      .edit(
                          before,
                          ManifestEdit.builder("logs not needed")
                              .reach(before.redo().sequence(), before.redo().highestTimestamp())
                              .coversReplay(true)
                              .build()));
    }
  }

  /** Closes the logs of earlier servers from which no tablet is being replayed. */
  void closeUnusedLogs() {
    fenced.closeUnused();
  }

  /** Closes the read-aheads of scans that have not asked for their next page for some seconds. */
  void closeUnusedReadaheads() {
    storage.sstables().closeUnusedReadaheads();
  }

  /**
   * A tablet's record does not assign the tablet to this server for loading: the request is late.
   */
  static final class NotAssignedException extends SteleException {
    private static final long serialVersionUID = 1L;

    NotAssignedException(String message) {
      super(Code.REFUSED, message);
    }
  }

  private TabletRecord assigned(TabletId id, Bytes row, long epoch) throws IOException {
    TabletRecord record =
        assignments
            .read(id.table(), row)
            .orElseThrow(
                () -> new NotAssignedException("tablet " + id + " has no record in METADATA"));
    Assignment assignment = record.assignment();
    if (!record.id().equals(id)
        || assignment.state() != Assignment.State.ASSIGNED
        || !assignment.isTo(server.id())
        || assignment.epoch() != epoch) {
      throw new NotAssignedException(
          "tablet "
              + id
              + " must not be loaded by "
              + server.id()
              + " under epoch "
              + epoch
              + ": "
              + record);
    }
    return record;
  }

  private StoredTable table(TabletId id, long sinceNanos) throws IOException {
    return tables
        .computeIfAbsent(
            id.table(), table -> new FreshRead<>(server.runtime(), () -> schemas.table(table)))
        .since(sinceNanos)
        .orElseThrow(
            () ->
                SteleException.notFound(
                    "table " + id.table() + " of tablet " + id + " has no schema: it was dropped"));
  }

  /** Loads that begin from now on read the table's schema again. */
  void forgetTable(TableId table) {
    tables.remove(table);
  }

  private ReplayRoom room(TabletKind kind) {
    return switch (kind) {
      case USER -> userRoom;
      case SYSTEM -> systemRoom;
    };
  }

  /** Opens a tablet, replaying what fenced servers logged for it after its redo point. */
  private HostedTablet openReplaying(
      TabletRecord record, StoredTable table, RecordManifest manifest, long sinceNanos)
      throws IOException {
    IoFunction<ReplayRoom.Share, HostedTablet> opening =
        room -> {
          try (LogReplay replay =
              new LogReplay(fenced, storage.layout(), record, server.id(), room, sinceNanos)) {
            return open(spec(record, table), manifest, replay, room);
          }
        };
    ReplayRoom room = room(TabletKind.of(record.id()));
    return record.id().equals(TabletId.ROOT) ? room.openAtOnce(opening) : room.open(opening);
  }

  private HostedTablet open(
      TabletSpec spec, RecordManifest manifest, RecordSource replay, MemoryAccount memtables)
      throws IOException {
    KindResources resources = server.resources().of(spec.id());
    TabletEnvironment environment =
        new TabletEnvironment(
            server.runtime(),
            storage.clock(),
            storage.fs(),
            storage.layout().root(),
            storage.sstables(),
            memtables,
            resources.operations(),
            TabletLog.of(resources.log(), spec.id()),
            manifest,
            spec.id().table().isSystem() ? CompactionPace.UNLIMITED : storage.pace(),
            storage.options(),
            storage.largeBlocks(),
            resources.compactions());
    return new HostedTablet(server.runtime(), Tablet.open(spec, environment, replay), manifest);
  }

  private RecordManifest manifest(TabletRecord record) {
    Consumer<TabletRecord> changed = record.id().equals(TabletId.ROOT) ? this::copyRoot : now -> {};
    return new RecordManifest(server.runtime(), server.records(), record, server.life(), changed);
  }

  private static TabletSpec spec(TabletRecord record, StoredTable table) {
    return new TabletSpec(
        record.id(),
        record.assignment().epoch(),
        record.extent(),
        table.schema(),
        record.files(),
        record.redo().sequence(),
        record.redo().highestTimestamp(),
        record.pins(),
        record.pending(),
        table.lowered());
  }
}
