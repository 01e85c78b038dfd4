package io.stele.tabletserver;

import io.stele.config.TabletServerConfig;
import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogKind;
import io.stele.log.LogRecord;
import io.stele.log.RecordSource;
import io.stele.metadata.Assignment;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.metadata.TabletEdit;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import io.stele.sstable.BlockCache;
import io.stele.tablet.CompactionPace;
import io.stele.tablet.Tablet;
import io.stele.tablet.TabletEnvironment;
import io.stele.tablet.TabletLog;
import io.stele.tablet.TabletOptions;
import io.stele.tablet.TabletSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens tablets: from their records when the master has assigned them, from their parent when they
 * come from a split.
 *
 * <p>Safe for use by any number of threads.
 */
final class TabletLoader {
  private static final Logger LOG = LoggerFactory.getLogger(TabletLoader.class);

  private final ServerId server;
  private final HostedTablets tablets;
  private final FileSystem fs;
  private final Layout layout;
  private final Map<LogKind, CommitLog> logs;
  private final BlockCache cache;
  private final Map<LogKind, MemtableBudget> budgets;
  private final TabletRecords records;
  private final Schemas schemas;
  private final ProcessRuntime runtime;
  private final CompactionPace pace;
  private final TabletOptions options;
  private final ServerLife life;

  TabletLoader(
      ServerId server,
      HostedTablets tablets,
      FileSystem fs,
      Layout layout,
      Map<LogKind, CommitLog> logs,
      BlockCache cache,
      Map<LogKind, MemtableBudget> budgets,
      TabletRecords records,
      Schemas schemas,
      ProcessRuntime runtime,
      CompactionPace pace,
      TabletServerConfig config,
      ServerLife life) {
    this.server = server;
    this.tablets = tablets;
    this.fs = fs;
    this.layout = layout;
    this.logs = logs;
    this.cache = cache;
    this.budgets = budgets;
    this.records = records;
    this.schemas = schemas;
    this.runtime = runtime;
    this.pace = pace;
    this.options =
        TabletOptions.DEFAULT
            .withValueBytesMax(config.valueBytesMax())
            .withOperationsWindow(config.operationsWindow());
    this.life = life;
  }

  /**
   * Loads a tablet that the master has assigned to this server, and serves it.
   *
   * @param row the key of its row in METADATA; empty for the root tablet
   * @param epoch of the assignment
   * @throws SteleException REFUSED where the record does not say that this server is to load it
   * @throws IOException where it cannot be opened; the record stays ASSIGNED, and loading may be
   *     tried again
   */
  void load(TabletId id, Bytes row, long epoch) throws IOException {
    TabletRecord record = assigned(id, row, epoch);
    records.removeTentatives(record);
    StoredTable table = table(id);
    RecordManifest manifest = new RecordManifest(runtime, records, record, life);
    List<LogRecord> replay = replay(record);
    HostedTablet hosted = open(spec(record, table.schema()), manifest, replay);
    try {
      manifest.change(records::loaded);
    } catch (IOException | RuntimeException e) {
      hosted.tablet().close();
      throw e;
    }
    tablets.add(hosted, table); // Nothing between the two can fail: who has it LOADED serves it.
    LOG.info(
        "Loaded tablet {}: {} records replayed from {}",
        record,
        hosted.tablet().replayedRecords(),
        record.logs());
  }

  /** Opens one half of a split, whose record is LOADED already. */
  HostedTablet openChild(TabletRecord child, TableSchema schema) throws IOException {
    return open(spec(child, schema), new RecordManifest(runtime, records, child, life), List.of());
  }

  /** Whether the tablet's record names logs of earlier servers. */
  boolean hasReplayToCover(HostedTablet hosted) {
    return hosted.record().logs().stream().anyMatch(log -> !log.equals(server));
  }

  /**
   * Makes the logs of earlier servers unneeded: writes what was replayed from them to an SSTable,
   * or, where that was nothing, just strikes them from the record.
   */
  void coverReplay(HostedTablet hosted) throws IOException {
    if (hosted.tablet().replayedRecords() > 0) {
      hosted.tablet().minorCompact();
    }
    if (hasReplayToCover(hosted) && hosted.tablet().replayedRecords() == 0) {
      hosted
          .manifest()
          .change(
              before ->
                  records.edit(
                      before,
                      new TabletEdit(
                          "logs not needed",
                          List.of(),
                          List.of(),
                          Optional.of(before.redo()),
                          true)));
    }
  }

  private TabletRecord assigned(TabletId id, Bytes row, long epoch) throws IOException {
    TabletRecord record =
        records
            .read(id.table(), row)
            .orElseThrow(
                () -> SteleException.refused("tablet " + id + " has no record in METADATA"));
    Assignment assignment = record.assignment();
    if (!record.id().equals(id)
        || assignment.state() != Assignment.State.ASSIGNED
        || !assignment.isTo(server)
        || assignment.epoch() != epoch) {
      throw SteleException.refused(
          "tablet "
              + id
              + " is not to be loaded by "
              + server
              + " under epoch "
              + epoch
              + ": "
              + record);
    }
    return record;
  }

  private StoredTable table(TabletId id) throws IOException {
    return schemas
        .table(id.table())
        .orElseThrow(
            () ->
                SteleException.notFound(
                    "table " + id.table() + " of tablet " + id + " has no schema: it was dropped"));
  }

  /** What fenced servers logged of the tablet after its redo point. */
  private List<LogRecord> replay(TabletRecord record) throws IOException {
    List<LogRecord> replay = new ArrayList<>();
    for (ServerId other : record.logs()) {
      if (other.equals(server)) {
        continue; // This process has written nothing of the tablet since its redo point: it unloads
        // tablets whole, or ends.
      }
      Path directory = layout.recovery(other);
      // In this order: the one is renamed to the other.
      if (!fs.exists(layout.logs(other)) && !fs.exists(directory)) {
        throw new CorruptionException(
            directory.toString(),
            0,
            "it is gone although the record of tablet " + record.id() + " still names it");
      }
      try (RecordSource log =
          LogDirectory.read(fs, directory, HostedTablet.kindOf(record.id())).only(record.id())) {
        for (Optional<LogRecord> next = log.next(); next.isPresent(); next = log.next()) {
          if (next.get().sequence() > record.redo().sequence()) {
            replay.add(next.get());
          }
        }
      }
    }
    return replay;
  }

  private HostedTablet open(TabletSpec spec, RecordManifest manifest, List<LogRecord> replay)
      throws IOException {
    TabletEnvironment environment =
        new TabletEnvironment(
            runtime,
            fs,
            layout.root(),
            cache,
            budgets.get(HostedTablet.kindOf(spec.id())),
            TabletLog.of(logs.get(HostedTablet.kindOf(spec.id())), spec.id()),
            manifest,
            HostedTablet.kindOf(spec.id()) == LogKind.META ? CompactionPace.UNLIMITED : pace,
            options);
    return new HostedTablet(runtime, Tablet.open(spec, environment, replay), manifest);
  }

  private static TabletSpec spec(TabletRecord record, TableSchema schema) {
    return new TabletSpec(
        record.id(),
        record.assignment().epoch(),
        record.extent(),
        schema,
        record.files(),
        record.redo().sequence(),
        record.redo().highestTimestamp());
  }
}
