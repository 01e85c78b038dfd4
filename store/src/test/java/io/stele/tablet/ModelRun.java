package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.log.LogRecord;
import io.stele.memtable.MemoryAccount;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.ClearedRows;
import io.stele.record.FileRef;
import io.stele.record.Pending;
import io.stele.record.PendingFile;
import io.stele.record.PendingReplacement;
import io.stele.record.Pin;
import io.stele.record.PinnedTablet;
import io.stele.runtime.ForwardingRuntime;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ServerClock;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableFileSystem;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.OpenSSTables;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** One run of random operations against tablets and the plain model side by side. */
final class ModelRun {
  private static final Path ROOT = new Path("/stele");
  private static final int HISTORY = 40;

  /** An operation that was given to a tablet. */
  private record Sent(
      OperationRequest request,
      CompletableFuture<OperationResult> future,
      Mutation resolved,
      OperationResult expected) {}

  /** A read point taken earlier, and what it saw. */
  private record Point(Part part, long readPoint, PlainModel model) {}

  /** A pin, the rows it is for, and what it saw. */
  private record Pinned(String name, RowRange rows, long clockMicros, PlainModel model) {}

  /** A job whose files wait, and what they do. */
  private record Job(
      String name, Optional<RowRange> replaced, List<Mutation> mutations, boolean commits) {}

  /** A tablet with its log and its record. */
  private final class Part {
    final TestManifest manifest;
    ManualLog log = new ManualLog();
    Tablet tablet;
    final ArrayDeque<Sent> inFlight = new ArrayDeque<>();

    Part(TabletSpec spec) throws IOException {
      manifest = new TestManifest(spec);
      tablet = open(List.of());
    }

    Tablet open(List<LogRecord> replay) throws IOException {
      return Tablet.open(
          manifest.record(),
          new TabletEnvironment(
              ForwardingRuntime.withWallClock(ModelRun.this::time),
              ServerClock.trusting(
                  ForwardingRuntime.withWallClock(ModelRun.this::time).wallClock()),
              fs,
              ROOT,
              sstables,
              MemoryAccount.NONE,
              OperationBudget.unlimited(),
              log,
              manifest,
              CompactionPace.UNLIMITED,
              options,
              MemoryRoom.unlimited(),
              new CompactionCounters()),
          replay);
    }
  }

  /** Some scans find what their last page has left, others have to read again. */
  private static final long IDLE_READAHEAD_BYTES = 400_000;

  private final Random random;
  private final PageReads pages;
  private final FileSystem fs = CrashableFileSystem.create();
  private final OpenSSTables sstables =
      new OpenSSTables(SystemRuntime.INSTANCE, fs, NoBlockCache.INSTANCE, IDLE_READAHEAD_BYTES);
  private final TabletOptions options;
  private final RandomData data;
  private TableSchema schema;
  private final List<Part> parts = new ArrayList<>();
  private PlainModel queued;
  private PlainModel visible;
  private final List<Point> points = new ArrayList<>();
  private final List<Pinned> pins = new ArrayList<>();
  private final long[] nextNumber = {1, 1, 1};
  private final Map<OperationId, Sent> remembered = new LinkedHashMap<>();
  private final ArrayDeque<String> history = new ArrayDeque<>();
  private long nowMicros = 1_000_000;
  private int tabletsMade;
  private long operations;
  private int pinsMade;
  private final List<Job> jobs = new ArrayList<>();
  private int jobsMade;
  private long clearings;

  ModelRun(long seed) throws IOException {
    random = new Random(seed);
    pages = new PageReads(random);
    data = new RandomData(random);
    schema = data.schema();
    queued = new PlainModel(schema);
    visible = new PlainModel(schema);
    int least = 2 + random.nextInt(2);
    options =
        UntimedPages.options(
            1 << 20,
            TabletOptions.DEFAULT.operationsWindow(),
            new TabletOptions.Merging(least, least + random.nextInt(3), 4 + random.nextInt(6)),
            TabletOptions.DEFAULT.page().bytesMax());
    parts.add(new Part(TabletSpec.empty(nextId(), 1, RowRange.ALL, schema)));
  }

  /** Runs {@code steps} steps and returns how many operations were applied. */
  long run(int steps) throws IOException {
    for (int i = 0; i < steps; i++) {
      try {
        step(i);
      } catch (IOException | RuntimeException | AssertionError e) {
        throw new AssertionError(
            "step " + i + " of " + schema + "\n" + String.join("\n", history), e);
      }
    }
    for (Part part : parts) {
      part.tablet.close();
    }
    assertThat(sstables.count()).as("files left open").isZero();
    return operations;
  }

  private void step(int number) throws IOException {
    nowMicros += 2 + random.nextInt(8);
    Part part = parts.get(random.nextInt(parts.size()));
    stepOfPins(part);
    if (random.nextInt(30) == 0) {
      stepOfJob();
    }
    if (random.nextInt(60) == 0) {
      clear(part);
    }
    if (random.nextInt(80) == 0) {
      eraseFamily();
    }
    int dice = random.nextInt(100);
    if (dice < 52) {
      apply();
    } else if (dice < 66) {
      read(data.query(nowMicros));
    } else if (dice < 70) {
      retry();
    } else if (dice < 73) {
      note("hold " + part.tablet.id());
      part.log.hold(random.nextBoolean());
      takeAnswers(part);
    } else if (dice < 76) {
      note("flush some of " + part.tablet.id());
      part.log.flush(random.nextInt(3));
      takeAnswers(part);
    } else if (dice < 79) {
      note("read point " + part.tablet.id() + " " + part.tablet.readPoint());
      points.add(new Point(part, part.tablet.readPoint(), visible.copy()));
    } else if (dice < 82) {
      readPoint();
    } else if (dice < 87) {
      minorCompact(part);
    } else if (dice < 92) {
      note("merge " + part.tablet.id());
      assertThat(part.tablet.wantsMergingCompaction()).isEqualTo(part.tablet.mergingCompact());
      checkAll();
    } else if (dice < 94) {
      note("major " + part.tablet.id());
      part.tablet.majorCompact();
      if (part.tablet.pins().isEmpty()) {
        List<FileRef> files = part.tablet.describe().files();
        long operationsOnly = files.stream().filter(file -> file.families().isEmpty()).count();
        assertThat(files.size() - operationsOnly).isLessThanOrEqualTo(schema.groups().size());
        assertThat(operationsOnly).isLessThanOrEqualTo(1);
      }
      checkAll();
    } else if (dice < 95) {
      if (random.nextBoolean()) {
        alter();
      } else if (random.nextInt(4) == 0) {
        lower();
      } else {
        collectGarbage(part);
      }
    } else if (dice < 97) {
      restart(part);
    } else if (dice < 98) {
      split(part);
    } else {
      failedCompaction(part);
    }
    if (number % 50 == 49) {
      checkAll();
    }
  }

  private void collectGarbage(Part part) throws IOException {
    Duration interval = Duration.of(random.nextInt(2000), ChronoUnit.MICROS);
    note("collect garbage of " + part.tablet.id() + " after " + interval);
    assertThat(part.tablet.wantsToCollectGarbage(interval))
        .isEqualTo(part.tablet.collectGarbage(interval));
    checkAll();
  }

  private void stepOfPins(Part part) throws IOException {
    if (random.nextInt(50) == 0) {
      if (random.nextBoolean()) {
        pin(part);
      } else {
        unpin();
      }
    } else if (random.nextInt(20) == 0) {
      readPinned();
    }
  }

  private void stepOfJob() throws IOException {
    if (random.nextBoolean()) {
      registerFiles();
    } else {
      resolve();
    }
  }

  private void apply() {
    RowOperation operation = data.operation(nowMicros);
    Optional<OperationId> id = Optional.empty();
    if (random.nextBoolean()) {
      int client = random.nextInt(nextNumber.length);
      id = Optional.of(new OperationId(client, 7, nextNumber[client]++));
    }
    send(new OperationRequest(operation, id, Outstanding.from(0), Durability.HFLUSH));
  }

  private void send(OperationRequest request) {
    note("apply " + request.operation() + " " + request.id());
    operations++;
    Part part = partOf(request.operation().row());
    Optional<PlainOperations.Evaluated> expected =
        PlainOperations.evaluate(queued, request.operation(), nowMicros);
    CompletableFuture<OperationResult> future = part.tablet.apply(request);
    if (expected.isEmpty()) {
      part.log.flush(Integer.MAX_VALUE);
      takeAnswers(part);
      assertThatThrownBy(future::join).hasCauseInstanceOf(SteleException.class);
      return;
    }
    Mutation resolved = expected.get().mutation();
    queued.apply(resolved);
    Sent sent = new Sent(request, future, resolved, expected.get().result());
    part.inFlight.add(sent);
    request.id().ifPresent(id -> remembered.put(id, sent));
    takeAnswers(part);
  }

  /** Has the visible model follow what the tablet has acknowledged. */
  private void takeAnswers(Part part) {
    while (!part.inFlight.isEmpty() && part.inFlight.getFirst().future().isDone()) {
      Sent sent = part.inFlight.removeFirst();
      assertThat(sent.future().join()).isEqualTo(sent.expected());
      visible.apply(sent.resolved());
    }
    assertThat(part.inFlight).allSatisfy(sent -> assertThat(sent.future()).isNotDone());
    if (part.log.waiting() == 0) {
      assertThat(part.inFlight).isEmpty();
    }
  }

  private void retry() {
    if (remembered.isEmpty()) {
      return;
    }
    List<OperationId> ids = new ArrayList<>(remembered.keySet());
    OperationId id = ids.get(random.nextInt(ids.size()));
    Sent sent = remembered.get(id);
    note("retry " + sent.request());
    Part part = partOf(sent.request().operation().row());
    if (random.nextInt(4) == 0) {
      Mutation other = Mutation.of(sent.request().operation().row()).put("a", "other", "thing");
      CompletableFuture<OperationResult> refused =
          part.tablet.apply(OperationRequest.of(other, id, 0));
      assertThatThrownBy(refused::join).hasMessageContaining("was something else");
      return;
    }
    CompletableFuture<OperationResult> again = part.tablet.apply(sent.request());
    assertThat(again.isDone()).isEqualTo(sent.future().isDone());
    if (again.isDone()) {
      assertThat(again.join()).isEqualTo(sent.expected());
    }
    if (random.nextInt(10) == 0) { // The client no longer needs this one and those before it.
      takeAllAnswers();
      Mutation mutation = data.mutation(sent.request().operation().row(), nowMicros, 1);
      int client = (int) id.clientHigh();
      OperationId next = new OperationId(client, 7, nextNumber[client]++);
      send(OperationRequest.of(mutation, next, id.number() + 1));
      takeAllAnswers();
      remembered
          .keySet()
          .removeIf(old -> old.clientHigh() == client && old.number() <= id.number());
      assertThatThrownBy(() -> part.tablet.apply(sent.request()).join())
          .hasMessageContaining("older than the window");
    }
  }

  private void alter() {
    alter(data.regrouped(schema));
  }

  /** Fewer versions count from now on; pins see what they saw. */
  private void lower() throws IOException {
    for (Part part : parts) {
      part.log.hold(false);
    }
    takeAllAnswers();
    alter(data.lowered(schema));
    PlainModel now = new PlainModel(schema);
    now.become(visible);
    visible = now;
    queued = visible.copy();
    points.clear();
    checkAll();
  }

  private void alter(TableSchema next) {
    schema = next;
    note("alter to " + schema);
    for (Part part : parts) {
      part.manifest.alter(schema);
      part.tablet.alter(schema, part.manifest.record().lowered());
    }
  }

  private void minorCompact(Part part) throws IOException {
    note("minor " + part.tablet.id());
    part.log.flush(Integer.MAX_VALUE);
    takeAnswers(part);
    if (part.tablet.minorCompact()) {
      assertThat(part.log.released()).isEqualTo(part.tablet.describe().redoPoint());
    }
    assertThat(part.tablet.minorCompact()).as("nothing is left in memory").isFalse();
    checkAll();
  }

  private void failedCompaction(Part part) throws IOException {
    TestManifest.Mood mood =
        TestManifest.Mood.values()[random.nextInt(TestManifest.Mood.values().length)];
    boolean minor = random.nextBoolean();
    note((minor ? "minor " : "major ") + part.tablet.id() + " and the manifest " + mood);
    part.log.flush(Integer.MAX_VALUE);
    takeAnswers(part);
    part.manifest.next(mood);
    try {
      boolean done = minor ? part.tablet.minorCompact() : part.tablet.majorCompact();
      assertThat(!done || mood == TestManifest.Mood.WORKS).isTrue();
    } catch (IOException e) {
      assertThat(mood).isEqualTo(TestManifest.Mood.FAILS);
    } catch (SteleException e) {
      assertThat(part.tablet.failure()).isPresent();
      assertThatThrownBy(() -> part.tablet.read(ReadRequest.of(RowQuery.ALL)))
          .hasMessageContaining("loaded again");
      restart(part);
    }
    part.manifest.next(TestManifest.Mood.WORKS);
    checkAll();
  }

  private void restart(Part part) throws IOException {
    int survive = part.log.waiting() == 0 ? 0 : random.nextInt(part.log.waiting() + 1);
    note("restart " + part.tablet.id() + ", " + survive + " records survive");
    List<LogRecord> replay = new ArrayList<>(part.log.crash(survive));
    if (!replay.isEmpty()) {
      replay.add(replay.get(random.nextInt(replay.size()))); // Written twice after a failed flush.
    }
    int left = survive; // One record for each operation in flight, but for those that need none.
    while (left > 0) {
      Sent sent = part.inFlight.removeFirst();
      if (!sent.resolved().edits().isEmpty() || sent.request().id().isPresent()) {
        left--;
        visible.apply(sent.resolved());
        Sent found =
            new Sent(
                sent.request(),
                CompletableFuture.completedFuture(sent.expected()),
                sent.resolved(),
                sent.expected());
        sent.request().id().ifPresent(id -> remembered.put(id, found));
      }
    }
    for (Sent lost : part.inFlight) {
      lost.request().id().ifPresent(remembered::remove);
    }
    part.inFlight.clear();
    rebuildQueued();
    points.removeIf(point -> point.part() == part);
    part.tablet.close();
    part.manifest.reassigned();
    ManualLog next = new ManualLog();
    part.log = next;
    part.tablet = part.open(replay);
    if (part.tablet.replayedRecords() > 0 && random.nextBoolean()) {
      part.tablet.minorCompact();
      assertThat(part.manifest.coversReplay()).isTrue();
    } else {
      // As the logs its record still names: what a second restart would find.
      replay.stream()
          .filter(record -> record.sequence() > part.manifest.record().redoPoint())
          .forEach(record -> next.append(record, LogNeed.of(Durability.HFLUSH)));
    }
    checkAll();
  }

  private void rebuildQueued() {
    PlainModel now = visible.copy();
    for (Part part : parts) {
      part.inFlight.forEach(sent -> now.apply(sent.resolved()));
    }
    queued.become(now);
  }

  private void split(Part part) throws IOException {
    part.log.hold(false);
    takeAnswers(part);
    assertThat(part.tablet.pauseWrites()).isDone();
    part.tablet.minorCompact();
    Optional<Bytes> row = random.nextBoolean() ? part.tablet.splitRow() : Optional.of(data.row());
    RowRange extent = part.tablet.extent();
    note("split " + part.tablet.id() + " at " + row);
    if (row.isEmpty() || !extent.contains(row.get()) || row.get().equals(extent.start())) {
      part.tablet.resumeWrites();
      return;
    }
    TabletSpec whole = part.tablet.describe();
    assertThat(whole.files()).containsExactlyInAnyOrderElementsOf(part.manifest.record().files());
    parts.add(new Part(whole.child(nextId(), 1, new RowRange(extent.start(), row.get()))));
    parts.add(new Part(whole.child(nextId(), 1, new RowRange(row.get(), extent.end()))));
    parts.remove(part);
    points.removeIf(point -> point.part() == part);
    part.tablet.close();
    checkAll();
  }

  private void readPoint() throws IOException {
    if (points.isEmpty()) {
      return;
    }
    Point point = points.get(random.nextInt(points.size()));
    Tablet tablet = point.part().tablet;
    note("read at " + point.readPoint() + " of " + tablet.id());
    ReadRequest request = ReadRequest.of(data.query(nowMicros)).at(point.readPoint());
    if (point.readPoint() >= tablet.oldestReadablePoint()) {
      RowQuery query = request.query();
      assertThat(pages.rows(point.part().tablet, query, request))
          .isEqualTo(PlainQueries.rows(point.model(), query, tablet.extent(), nowMicros));
    } else {
      assertThatThrownBy(
              () ->
                  tablet.read(
                      new ReadRequest(request.query(), request.readPoint(), false, 0, false)))
          .hasMessageContaining("cannot be read any more");
      assertThat(tablet.read(request).readPoint()).isEqualTo(tablet.readPoint());
      points.remove(point);
    }
  }

  private void pin(Part part) throws IOException {
    part.log.flush(Integer.MAX_VALUE);
    takeAnswers(part);
    String name = "job" + ++pinsMade;
    note("pin " + part.tablet.id() + " by " + name);
    Pin pin = part.tablet.pin(name);
    pins.add(new Pinned(name, part.tablet.extent(), pin.clockMicros(), visible.copy()));
    assertThat(part.tablet.pin(name)).isEqualTo(pin);
    nowMicros++; // The pin has taken a timestamp.
    checkAll();
  }

  private void unpin() throws IOException {
    if (pins.isEmpty()) {
      return;
    }
    Pinned pinned = pins.remove(random.nextInt(pins.size()));
    note("unpin " + pinned.name());
    for (Part part : parts) {
      boolean has = part.tablet.extent().intersection(pinned.rows()).isPresent();
      assertThat(part.tablet.unpin(pinned.name())).isEqualTo(has);
      assertThatThrownBy(() -> part.tablet.read(ReadRequest.of(RowQuery.ALL).atPin(pinned.name())))
          .hasMessageContaining("no pin " + pinned.name());
    }
  }

  /** What is read at a pin is what was there when it was made, in whatever tablets that is now. */
  private void readPinned() throws IOException {
    if (pins.isEmpty()) {
      return;
    }
    Pinned pinned = pins.get(random.nextInt(pins.size()));
    for (RowQuery query : List.of(data.query(nowMicros), RowQuery.ALL)) {
      note("read at pin " + pinned.name() + " " + query);
      for (Part part : parts) {
        if (part.tablet.extent().intersection(pinned.rows()).isPresent()) {
          assertThat(pages.rows(part.tablet, query, ReadRequest.of(query).atPin(pinned.name())))
              .isEqualTo(
                  PlainQueries.rows(
                      pinned.model(), query, part.tablet.extent(), pinned.clockMicros()));
          assertThat(direct(part.manifest.record(), query, pinned.name()))
              .isEqualTo(
                  PlainQueries.rows(
                      pinned.model(), query, part.tablet.extent(), pinned.clockMicros()));
        }
      }
    }
  }

  /** A job writes files, and every tablet with rows of them has them wait. */
  private void registerFiles() throws IOException {
    String name = String.format("job-%03d", ++jobsMade);
    List<Mutation> mutations = new ArrayList<>();
    List<Pending> files = new ArrayList<>();
    Optional<RowRange> replaced =
        random.nextInt(3) == 0 ? Optional.of(someRows()) : Optional.empty();
    replaced.ifPresent(rows -> files.add(new PendingReplacement(name, rows)));
    // Its tasks may have begun before a family was added.
    TableSchema begun = random.nextInt(3) == 0 ? data.without(schema, anyFamily()) : schema;
    for (int task = random.nextInt(3); task >= 0; task--) {
      List<Mutation> ofTask = new ArrayList<>();
      for (int i = random.nextInt(8); i >= 0; i--) {
        Mutation drawn = data.mutation(data.row(), nowMicros, 1 + random.nextInt(3));
        PlainOperations.evaluate(queued, drawn, nowMicros)
            .flatMap(evaluated -> RandomData.part(evaluated.mutation(), begun))
            .ifPresent(ofTask::add);
      }
      ofTask.sort(Comparator.comparing(Mutation::row));
      JobFileWriter.Target target =
          new JobFileWriter.Target(fs, ROOT, name, "task-" + (9 - task), begun, nowMicros);
      try (JobFileWriter writer = new JobFileWriter(target, random, 1 << 20)) {
        for (Mutation mutation : ofTask) {
          writer.add(mutation);
        }
        writer.finish().forEach(file -> files.add(new PendingFile(name, file)));
      }
      mutations.addAll(byRow(ofTask));
    }
    Job job = new Job(name, replaced, mutations, random.nextInt(4) > 0);
    note("register " + job);
    for (Part part : parts) {
      part.tablet.register(
          files.stream()
              .filter(file -> file.meets(part.tablet.extent()))
              .map(file -> file.clipped(part.tablet.extent()))
              .toList());
    }
    jobs.add(job);
    checkAll();
  }

  /** What a writer adds to one row is one change. */
  private static List<Mutation> byRow(List<Mutation> inOrder) {
    Map<Bytes, List<Edit>> rows = new TreeMap<>();
    for (Mutation mutation : inOrder) {
      rows.computeIfAbsent(mutation.row(), row -> new ArrayList<>()).addAll(mutation.edits());
    }
    return rows.entrySet().stream().map(row -> new Mutation(row.getKey(), row.getValue())).toList();
  }

  /** A job ends: its files are visible, or gone. */
  private void resolve() throws IOException {
    if (jobs.isEmpty()) {
      return;
    }
    Job job = jobs.remove(random.nextInt(jobs.size()));
    note("resolve " + job);
    for (Part part : parts) {
      part.log.hold(false);
      takeAnswers(part);
      if (job.commits()) {
        if (part.tablet.pending().stream().anyMatch(one -> one.job().equals(job.name()))) {
          take(part, job);
        }
        assertThat(part.tablet.take(job.name())).isFalse();
      } else {
        part.tablet.discard(job.name());
        assertThat(part.tablet.discard(job.name())).isFalse();
      }
    }
    if (job.commits()) {
      // Tasks have other rows each, or are taken in the order of their names.
      job.replaced().ifPresent(visible::clear);
      job.mutations().forEach(visible::apply);
      rebuildQueued();
    }
    checkAll();
  }

  private void take(Part part, Job job) throws IOException {
    assertThat(part.tablet.pauseWrites()).isDone();
    if (random.nextInt(4) == 0) {
      part.manifest.next(TestManifest.Mood.FAILS);
      assertThatThrownBy(() -> part.tablet.take(job.name())).isInstanceOf(IOException.class);
    }
    long before = part.tablet.readPoint();
    assertThat(part.tablet.take(job.name())).isTrue();
    assertThat(part.tablet.readPoint()).isGreaterThanOrEqualTo(before);
    assertThat(part.manifest.record().redoPoint()).isEqualTo(part.tablet.readPoint());
    part.tablet.resumeWrites();
  }

  /** Some or all rows of a tablet go, but at pins. */
  private void clear(Part part) throws IOException {
    Optional<RowRange> range = someRows().intersection(part.tablet.extent());
    if (range.isEmpty()) {
      return;
    }
    note("clear " + range.get() + " of " + part.tablet.id());
    part.log.hold(false);
    takeAnswers(part);
    assertThat(part.tablet.pauseWrites()).isDone();
    ClearedRows cleared = ClearedRows.NONE.with(++clearings, List.of(range.get()));
    if (random.nextInt(4) == 0) {
      part.manifest.next(TestManifest.Mood.FAILS);
      assertThatThrownBy(() -> part.tablet.clear(range.get(), cleared))
          .isInstanceOf(IOException.class);
    }
    part.tablet.clear(range.get(), cleared);
    part.tablet.resumeWrites();
    assertThat(part.manifest.record().redoPoint()).isEqualTo(part.tablet.readPoint());
    visible.clear(range.get());
    rebuildQueued();
    checkAll();
  }

  private String anyFamily() {
    return schema.families().get(random.nextInt(schema.families().size())).name();
  }

  /** A family is dropped and erased, and another gets its name; pins see what they saw. */
  private void eraseFamily() throws IOException {
    if (!jobs.isEmpty()) {
      return; // Their files may have cells of it, and are to have them.
    }
    String family = anyFamily();
    note("erase family " + family);
    for (Part part : parts) {
      part.log.hold(false);
      takeAnswers(part);
    }
    TableSchema with = data.regrouped(schema);
    alter(data.without(schema, family));
    visible.erase(family);
    points.forEach(point -> point.model().erase(family));
    rebuildQueued();
    ClearedRows done = ClearedRows.NONE.with(++clearings, List.of(RowRange.ALL));
    for (Part part : parts) {
      if (random.nextInt(4) == 0) {
        part.tablet.majorCompact();
      }
      assertThat(part.tablet.pauseWrites()).isDone();
      if (random.nextInt(4) == 0) {
        part.manifest.next(TestManifest.Mood.FAILS);
        assertThatThrownBy(() -> part.tablet.erase(Set.of(family), done))
            .isInstanceOf(IOException.class);
      }
      part.tablet.erase(Set.of(family), done);
      part.tablet.resumeWrites();
    }
    alter(with);
    checkAll();
  }

  private RowRange someRows() {
    Bytes one = data.row();
    Bytes other = data.row();
    boolean inOrder = one.compareTo(other) < 0;
    return random.nextInt(3) == 0 || one.equals(other)
        ? RowRange.ALL
        : inOrder ? new RowRange(one, other) : new RowRange(other, one);
  }

  /** What the files of a tablet have for a query at a pin, read without it. */
  private List<Row> direct(TabletSpec record, RowQuery query, String name) throws IOException {
    Pin pin = record.pins().stream().filter(one -> one.name().equals(name)).findAny().orElseThrow();
    PinnedTablet pinned = PinnedTablet.of(record.id(), record.extent(), pin, record.files());
    List<Row> rows = new ArrayList<>();
    int readahead = (int) (nowMicros % 1000);
    OpenSSTables opened = new OpenSSTables(SystemRuntime.INSTANCE, fs, NoBlockCache.INSTANCE);
    try (PinnedFiles files =
        PinnedFiles.open(opened, ROOT, pinned, query, Long.MAX_VALUE, readahead)) {
      for (Optional<Row> row = files.next(() -> {}); row.isPresent(); row = files.next(() -> {})) {
        rows.add(row.get());
      }
    }
    return rows.subList(0, (int) Math.min(query.rowLimit(), rows.size()));
  }

  private void checkAll() throws IOException {
    read(RowQuery.ALL);
  }

  private void read(RowQuery query) throws IOException {
    note("read " + query);
    for (Part part : parts) {
      assertThat(pages.rows(part.tablet, query, ReadRequest.of(query)))
          .isEqualTo(PlainQueries.rows(visible, query, part.tablet.extent(), nowMicros));
    }
  }

  private void takeAllAnswers() {
    for (Part part : parts) {
      part.log.flush(Integer.MAX_VALUE);
      takeAnswers(part);
    }
  }

  private Part partOf(Bytes row) {
    return parts.stream()
        .filter(part -> part.tablet.extent().contains(row))
        .findFirst()
        .orElseThrow();
  }

  private TabletId nextId() {
    return new TabletId(new TableId("t1"), String.format("%016x", ++tabletsMade));
  }

  private Instant time() {
    return Instant.ofEpochSecond(0, nowMicros * 1000);
  }

  private void note(String what) {
    history.add(nowMicros + " " + what);
    if (history.size() > HISTORY) {
      history.remove();
    }
  }
}
