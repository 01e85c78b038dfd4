package io.stele.benchmarks;

import io.stele.format.CellBlockWriter;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.Compression;
import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.log.LogStatistics;
import io.stele.log.RecordSource;
import io.stele.memtable.MemoryAccount;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.MemoryRoom;
import io.stele.runtime.ServerClock;
import io.stele.runtime.SystemRuntime;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.sstable.OpenSSTables;
import io.stele.tablet.CompactionCounters;
import io.stele.tablet.CompactionPace;
import io.stele.tablet.OperationBudget;
import io.stele.tablet.OperationRequest;
import io.stele.tablet.ReadRequest;
import io.stele.tablet.ReadResult;
import io.stele.tablet.Tablet;
import io.stele.tablet.TabletEnvironment;
import io.stele.tablet.TabletLog;
import io.stele.tablet.TabletOptions;
import io.stele.tablet.TabletSpec;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * One tablet, its commit log and its files in one process, without network: how quick the engine is
 * beside what the file system and the codec can do, measured in turns in one run.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.EngineBenchmark [local|hdfs] [none|snappy|lz4|zstd|gzip] [rounds] [MiB a round]
 * </pre>
 *
 * A round writes so many MiB in rows of 1000 bytes by 16 writers, then measures the same blocks
 * compressed and written plainly, then the minor compaction; after the rounds come a merging
 * compaction of all their files, reads of single rows, and a scan.
 */
public final class EngineBenchmark {
  private static final int WRITERS = 16;
  private static final int VALUE_BYTES = 1000;
  private static final int IN_FLIGHT = 8;
  private static final String FAMILY = "family";
  private static final Bytes QUALIFIER = Bytes.of("qualifier");
  private static final TabletId TABLET = new TabletId(new TableId("t1"), "00000000000000aa");
  private static final ServerId SERVER = new ServerId("localhost", 1, 1);

  private final FileSystem fs;
  private final Path root;
  private final Codec codec;
  private final int rounds;
  private final int rowsPerRound;
  private final CommitLog log;
  private final Tablet tablet;
  private final byte[] words = new byte[1 << 16];

  private EngineBenchmark(BenchmarkFiles files, Codec codec, int rounds, int mebibytes)
      throws IOException {
    this.fs = files.fs();
    this.root = files.root();
    this.codec = codec;
    this.rounds = rounds;
    this.rowsPerRound = (int) (((long) mebibytes << 20) / (VALUE_BYTES + 24));
    fillWords();
    Path logs = new Path(root, "logs/" + SERVER);
    LogDirectory.create(fs, logs);
    this.log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, logs, SERVER, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {});
    TableSchema schema =
        TableSchema.of(
            "t",
            List.of(new ColumnFamily(FAMILY, GcPolicy.keepAll())),
            LocalityGroup.of(LocalityGroup.DEFAULT_NAME).withCodec(codec));
    this.tablet =
        Tablet.open(
            TabletSpec.empty(TABLET, 1, RowRange.ALL, schema),
            new TabletEnvironment(
                SystemRuntime.INSTANCE,
                ServerClock.trusting(SystemRuntime.INSTANCE.wallClock()),
                fs,
                root,
                new OpenSSTables(SystemRuntime.INSTANCE, fs, new CaffeineBlockCache(1L << 30, 0)),
                MemoryAccount.NONE,
                OperationBudget.unlimited(),
                TabletLog.of(log, TABLET),
                edit -> {},
                CompactionPace.UNLIMITED,
                TabletOptions.DEFAULT,
                MemoryRoom.unlimited(),
                new CompactionCounters()),
            RecordSource.of(List.of()));
  }

  /** Runs the benchmark and prints what it found. */
  public static void main(String[] args) throws Exception {
    String kind = args.length > 0 ? args[0] : "hdfs";
    Codec codec =
        Codec.valueOf((args.length > 1 ? args[1] : "none").toUpperCase(java.util.Locale.ROOT));
    int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 6;
    int mebibytes = args.length > 3 ? Integer.parseInt(args[3]) : 64;
    try (BenchmarkFiles files = BenchmarkFiles.open(kind)) {
      System.out.printf("%s, codec %s, %d rounds of %d MiB%n", kind, codec, rounds, mebibytes);
      new EngineBenchmark(files, codec, rounds, mebibytes).run();
    }
    System.exit(0); // HDFS leaves threads behind.
  }

  private void run() throws Exception {
    double[] write = new double[rounds];
    double[] plain = new double[rounds];
    double[] minor = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      LogStatistics before = log.statistics();
      long start = System.nanoTime();
      write(round);
      write[round] = megabytesPerSecond(rowsPerRound, System.nanoTime() - start);
      LogStatistics after = log.statistics();
      List<byte[]> blocks = blocks(round);
      start = System.nanoTime();
      writePlainly(blocks, round);
      plain[round] = megabytesPerSecond(rowsPerRound, System.nanoTime() - start);
      start = System.nanoTime();
      tablet.minorCompact();
      minor[round] = megabytesPerSecond(rowsPerRound, System.nanoTime() - start);
      System.out.printf(
          "round %d: written %.0f MB/s, %.1f acknowledged a flush; codec and file alone %.0f MB/s;"
              + " minor compaction %.0f MB/s%n",
          round,
          write[round],
          (double) (after.records() - before.records()) / (after.flushes() - before.flushes()),
          plain[round],
          minor[round]);
    }
    // The first rounds are the compiler's.
    int warm = Math.min(2, rounds - 1);
    System.out.printf(
        "medians from round %d on: written %.0f MB/s; codec and file alone %.0f MB/s; minor"
            + " compaction %.0f MB/s, which is %.0f %% of it%n",
        warm,
        median(write, warm),
        median(plain, warm),
        median(minor, warm),
        100 * median(minor, warm) / median(plain, warm));
    merge();
    readRows("rows read for the first time");
    readRows("the same rows again");
    scan();
    log.close();
  }

  private void merge() throws IOException {
    for (int turn = 0; turn < 3; turn++) {
      long cpu = cpuNanos();
      long start = System.nanoTime();
      tablet.majorCompact();
      System.out.printf(
          "%s compaction of %d MB: %.0f MB/s of input by the clock, %.0f MB/s a core%n",
          turn == 0 ? "merging" : "major, of one file,",
          (long) rounds * rowsPerRound * (VALUE_BYTES + 24) / 1_000_000,
          megabytesPerSecond((long) rounds * rowsPerRound, System.nanoTime() - start),
          megabytesPerSecond((long) rounds * rowsPerRound, cpuNanos() - cpu));
    }
  }

  private void readRows(String what) throws IOException {
    SplittableRandom random = new SplittableRandom(7);
    int reads = 100_000;
    long cpu = cpuNanos();
    long start = System.nanoTime();
    for (int i = 0; i < reads; i++) {
      Bytes row = row(random.nextInt(rounds), random.nextInt(rowsPerRound));
      ReadResult result = tablet.read(ReadRequest.of(RowQuery.ALL.range(RowRange.single(row))));
      if (result.rows().size() != 1) {
        throw new IllegalStateException("row " + row + " is not there");
      }
    }
    System.out.printf(
        "%s: %.1f us each, %.1f us of CPU%n",
        what, (System.nanoTime() - start) / 1e3 / reads, (cpuNanos() - cpu) / 1e3 / reads);
  }

  private void scan() throws IOException {
    for (int turn = 0; turn < 3; turn++) {
      long rows = 0;
      long start = System.nanoTime();
      Optional<Bytes> next = Optional.of(Bytes.EMPTY);
      while (next.isPresent()) {
        ReadResult page =
            tablet.read(ReadRequest.of(RowQuery.ALL.range(new RowRange(next.get(), Bytes.EMPTY))));
        rows += page.rows().size();
        next = page.nextRow();
      }
      System.out.printf(
          "scan of %d rows: %.0f MB/s%n",
          rows, megabytesPerSecond(rows, System.nanoTime() - start));
    }
  }

  private void write(int round) throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int w = 0; w < WRITERS; w++) {
      int writer = w;
      Thread thread =
          new Thread(
              () -> {
                try {
                  write(round, writer);
                } catch (RuntimeException | Error e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw new IllegalStateException(failures.get(0));
    }
  }

  private void write(int round, int writer) {
    SplittableRandom order = new SplittableRandom(writer);
    List<CompletableFuture<?>> inFlight = new ArrayList<>();
    for (int i = writer; i < rowsPerRound; i += WRITERS) {
      Bytes row = row(round, i);
      inFlight.add(
          tablet.apply(
              OperationRequest.of(Mutation.of(row).put(FAMILY, QUALIFIER, 1 + i, value(i)))));
      if (inFlight.size() >= IN_FLIGHT) {
        inFlight.remove(order.nextInt(inFlight.size())).join();
      }
    }
    inFlight.forEach(CompletableFuture::join);
  }

  /** The cells of a round in order, in blocks as an SSTable has them. */
  private List<byte[]> blocks(int round) {
    List<Bytes> rows = new ArrayList<>();
    for (int i = 0; i < rowsPerRound; i++) {
      rows.add(row(round, i));
    }
    Integer[] order = new Integer[rowsPerRound];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, java.util.Comparator.comparing(rows::get));
    List<byte[]> blocks = new ArrayList<>();
    CellBlockWriter block = CellBlockWriter.searchable(16, LocalityGroup.BLOCK_BYTES);
    for (int i : order) {
      byte[] key = ColumnKey.of(rows.get(i), FAMILY, QUALIFIER);
      byte[] value = value(i).toByteArray();
      if (block.size() + key.length + value.length > LocalityGroup.BLOCK_BYTES) {
        blocks.add(block.finish().toByteArray());
        block.clear();
      }
      block.add(key, 1 + i, 1 + i, 0, CellType.PUT, Bytes.wrap(value));
    }
    blocks.add(block.finish().toByteArray());
    return blocks;
  }

  private void writePlainly(List<byte[]> blocks, int round) throws IOException {
    byte[] compressed = new byte[Compression.roomFor(codec, 2 * LocalityGroup.BLOCK_BYTES)];
    Path path = new Path(root, "plain-" + round);
    try (FSDataOutputStream out = fs.create(path, false, 64 << 10)) {
      for (byte[] block : blocks) {
        int length = Compression.compress(codec, block, 0, block.length, compressed);
        if (length < 0) {
          out.write(block, 0, block.length);
        } else {
          out.write(compressed, 0, length);
        }
      }
      out.hsync();
    }
    fs.delete(path, false);
  }

  /** Rows in no order, the same ones in every run. */
  private static Bytes row(int round, int number) {
    long scattered = (number + 1L) * 0x9e3779b97f4a7c15L;
    return Bytes.of(String.format("row%016x.%02d", scattered, round));
  }

  /** Text of sorts, that compresses to about half. */
  private Bytes value(int number) {
    int from = (int) ((number * 7919L) % (words.length - VALUE_BYTES));
    return Bytes.wrap(words, from, VALUE_BYTES);
  }

  private void fillWords() {
    SplittableRandom random = new SplittableRandom(1);
    int at = 0;
    while (at < words.length) {
      int word = random.nextInt(400);
      SplittableRandom letters = new SplittableRandom(word);
      for (int i = 2 + word % 9; i > 0 && at < words.length; i--) {
        words[at++] = (byte) ('a' + letters.nextInt(26));
      }
      if (at < words.length) {
        words[at++] = ' ';
      }
    }
  }

  private static double megabytesPerSecond(long rows, long nanos) {
    return rows * (VALUE_BYTES + 24) * 1e3 / nanos;
  }

  private static double median(double[] all, int from) {
    double[] sorted = Arrays.copyOfRange(all, from, all.length);
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
