package io.stele.config;

import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/**
 * Divides the memory of a tablet server: how much each use may take, so that all together fit into
 * the memory of the process, and the limits on requests that follow.
 *
 * <p>A size that the operator does not set is derived from the memory of the process. A size that
 * is set is kept, or refused if it does not fit. {@code docs/memory.md} explains each share.
 * Immutable.
 *
 * @param memtableBytes for memtables of users' tablets
 * @param systemMemtableBytes for memtables of METADATA and the root tablet
 * @param operationsBytes for the operation memory of users' tablets, which takes at most twice this
 * @param systemOperationsBytes the same of METADATA and the root tablet
 * @param replayBytes for what is read of dead servers' logs for several tablets at once; 0 where
 *     memory is short
 * @param idleReadaheadBytes for what scans have read of files beyond a page; 0 where memory is
 *     short
 * @param requestBytes for requests under way to users' tablets, with all their copies
 * @param systemRequestBytes for those to METADATA and the root tablet
 * @param frameBytesMax the longest request
 * @param answerBytes for answers about users' tables not yet sent, off the heap
 * @param valueBytesMax the largest value of a cell
 * @param largeCompactionBytes for the data that compactions with large values read at a time
 * @param heap the shares of the heap
 * @param direct the shares of the memory off the heap
 */
public record MemoryPlan(
    long memtableBytes,
    long systemMemtableBytes,
    long operationsBytes,
    long systemOperationsBytes,
    int replayBytes,
    int idleReadaheadBytes,
    long requestBytes,
    long systemRequestBytes,
    int frameBytesMax,
    long answerBytes,
    long valueBytesMax,
    long largeCompactionBytes,
    List<Share> heap,
    List<Share> direct) {
  private static final long MIB = 1L << 20;

  /** The largest limit that is derived where none is set. */
  public static final long VALUE_BYTES_MOST = 100 * MIB;

  /** A server without memory for values of this size does not start. */
  public static final long VALUE_BYTES_LEAST = MIB;

  /** How many times the frame of a write is in memory: as it came, and in the log's record. */
  public static final int FRAME_COPIES = 2;

  /** The longest frame that the wire allows. */
  private static final long FRAME_BYTES_MOST = 128 * MIB;

  /** Classes' own data, Hadoop's clients, indexes and filters of open SSTables, connections. */
  private static final long PROGRAM_BYTES = 48 * MIB;

  /** A collector needs some of the heap free, the more the larger arrays are. */
  private static final int COLLECTOR_SHARE = 8;

  private static final long MEMTABLE_BYTES_LEAST = 8 * MIB;
  private static final long REPLAY_BYTES_MOST = 8 * MIB;
  private static final int REPLAY_SHARE = 64; // Of the heap.
  private static final long IDLE_READAHEAD_BYTES_MOST = 16 * MIB;
  private static final int IDLE_READAHEAD_SHARE = 128; // Of the heap.

  /** Minor compactions of one kind of tablet at a time. */
  public static final int MINOR_COMPACTIONS = 2;

  /**
   * Of how many locality groups a minor compaction writes files at once: it passes over the
   * memtables once for every so many. As many as METADATA has: a pass over memtables takes little,
   * while one more group would take 6 MiB of the smallest heap, as four tablets may be compacted at
   * a time.
   */
  public static final int MINOR_GROUPS = 2;

  /**
   * How many groups a merging or major compaction writes at a time. It writes more than one only if
   * families were moved to other groups, and then reads its files once for each.
   */
  public static final int REWRITE_GROUPS = 1;

  /** What a merging or major compaction reads ahead, of all its files together. */
  public static final int READAHEAD_BYTES = 4 << 20;

  /** Blocks, index and filter blocks of the file that a compaction writes. */
  private static final long WRITER_BYTES = MIB;

  /**
   * The memory of each further file that is written at the same time: the blocks of all files share
   * the room for one.
   */
  private static final long FURTHER_WRITER_BYTES = 3 * MIB / 4;

  /** The most that the HDFS client may hold of a file being written: four packets of 480 KiB. */
  public static final long STREAM_BYTES_MOST = (4 * 480L) << 10;

  private static final int STREAM_SHARE = 256; // Of the heap.

  /**
   * Of the log of each kind of tablets: the file in use, and one that is stuck with a batch. More
   * are stuck only where several DataNodes hang; the collector's room has place for theirs.
   */
  private static final int LOG_STREAMS = 4;

  // Of large values. A flush has the value in a block, and that compressed; a merging compaction a
  // block of each file, of one of them in both forms, and what it writes.
  private static final double FLUSH_COPIES = 2.2;
  private static final int MERGED_FILES = 10;
  private static final double MERGE_COPIES = MERGED_FILES + 1 + FLUSH_COPIES;
  private static final int REQUEST_VALUES = 8;

  /** What one compaction has outside the heap at most, to compress. */
  public static final long CODEC_BYTES = 17 * MIB / 8;

  /** For answers about METADATA and the root tablet not yet sent: some pages. */
  public static final long SYSTEM_ANSWER_BYTES = 4 * MIB;

  /** The network's own buffers, and those in which files are read. */
  private static final long NETWORK_BYTES = 24 * MIB;

  /**
   * One term of the sum; {@code change} says how an operator makes it smaller, if there is a way.
   */
  public record Share(String name, long bytes, String change) {}

  public MemoryPlan {
    heap = List.copyOf(heap);
    direct = List.copyOf(direct);
  }

  /**
   * The plan for a tablet server with {@code given}.
   *
   * @throws SteleException REFUSED where what is configured does not fit: with the sum
   */
  public static MemoryPlan of(Configuration conf, ProcessMemory given) {
    return new Sum(conf, given).plan();
  }

  /** How many bytes the HDFS client may hold of a file being written. */
  public static long streamBytes(ProcessMemory given) {
    return Math.min(STREAM_BYTES_MOST, given.heapBytes() / STREAM_SHARE);
  }

  /** The sum, one line per share. */
  public String describe() {
    return "heap:" + lines(heap) + "\noff the heap:" + lines(direct);
  }

  private static String lines(List<Share> shares) {
    return shares.stream()
        .map(
            share ->
                String.format(
                    "%n  %6.1f MiB  %s%s",
                    share.bytes() / (double) MIB,
                    share.name(),
                    share.change().isEmpty() ? "" : " (" + share.change() + ")"))
        .collect(Collectors.joining());
  }

  private static long bytes(List<Share> shares) {
    return shares.stream().mapToLong(Share::bytes).sum();
  }

  /** Adds up. */
  private static final class Sum {
    private final ProcessMemory given;
    private final long cacheOffHeap;
    private final long systemMemtables;
    private final long systemRequests;
    private final long operations;
    private final long systemOperations;
    private final int compactions;
    private final long valueSet;
    private final long memtablesSet;
    private final List<Share> fixedHeap = new ArrayList<>();
    private final List<Share> fixedDirect = new ArrayList<>();

    Sum(Configuration conf, ProcessMemory given) {
      this.given = given;
      long heap = given.heapBytes();
      cacheOffHeap = TabletServerConfig.cacheOffHeapBytes(conf);
      long operationsSet = Keys.OPERATIONS_BYTES.in(conf);
      operations = operationsSet > 0 ? operationsSet : Math.max(MIB, heap / 32);
      valueSet = Keys.VALUE_BYTES_MAX.in(conf);
      memtablesSet = Keys.MEMTABLE_TOTAL_BYTES.in(conf);
      systemMemtables = Math.min(32 * MIB, Math.max(8 * MIB, heap / 16));
      systemOperations = Math.min(16 * MIB, Math.max(2 * MIB, heap / 128));
      systemRequests = Math.min(16 * MIB, Math.max(8 * MIB, heap / 32));
      int rewrites = 2 * Keys.COMPACTION_THREADS.in(conf);
      compactions = rewrites + 2 * MINOR_COMPACTIONS;
      int files = rewrites * REWRITE_GROUPS + 2 * MINOR_COMPACTIONS * MINOR_GROUPS;
      fixedHeap.add(new Share("the program", PROGRAM_BYTES, ""));
      fixedHeap.add(new Share("room for the collector", heap / COLLECTOR_SHARE, ""));
      fixedHeap.add(
          new Share(
              "cache",
              Keys.CACHE_BYTES.in(conf) - cacheOffHeap,
              Keys.CACHE_BYTES.name() + ", " + Keys.CACHE_OFF_HEAP_PERCENT.name()));
      fixedHeap.add(new Share("memtables of METADATA", systemMemtables, ""));
      fixedHeap.add(
          new Share(
              "operation memory",
              2 * (operations + systemOperations),
              Keys.OPERATIONS_BYTES.name()));
      fixedHeap.add(
          new Share(
              "buffers of compactions",
              (long) rewrites * READAHEAD_BYTES
                  + compactions * WRITER_BYTES
                  + (files - compactions) * FURTHER_WRITER_BYTES,
              Keys.COMPACTION_THREADS.name()));
      fixedHeap.add(
          new Share("files being written", (LOG_STREAMS + files) * streamBytes(given), ""));
      fixedHeap.add(new Share("requests about METADATA", systemRequests, ""));
      fixedDirect.add(
          new Share(
              "cache",
              cacheOffHeap,
              Keys.CACHE_BYTES.name() + ", " + Keys.CACHE_OFF_HEAP_PERCENT.name()));
      fixedDirect.add(
          new Share("compression", compactions * CODEC_BYTES, Keys.COMPACTION_THREADS.name()));
      fixedDirect.add(new Share("network and files", NETWORK_BYTES, ""));
      fixedDirect.add(new Share("answers about METADATA", SYSTEM_ANSWER_BYTES, ""));
    }

    MemoryPlan plan() {
      long fixed = bytes(fixedHeap);
      long least = valueSet > 0 ? valueSet : VALUE_BYTES_LEAST;
      long memtables = memtablesSet;
      if (memtables == 0) {
        long left = given.heapBytes() - fixed - ofValues(least);
        long half = (given.heapBytes() - fixed) / 2;
        memtables =
            Math.max(MEMTABLE_BYTES_LEAST, Math.min(given.heapBytes() / 4, Math.min(left, half)));
      }
      long left = given.heapBytes() - fixed - memtables;
      long answers = given.directBytes() - bytes(fixedDirect);
      if (left < ofValues(least)) {
        throw refused(
            "heap", given.heapBytes(), heap(memtables, List.of(), requests(least), least));
      }
      if (answers < answersFor(least)) {
        throw refused(
            "memory off the heap (-XX:MaxDirectMemorySize)",
            given.directBytes(),
            direct(answersFor(least)));
      }
      // A server without this memory reads more, and needs it for nothing else.
      long replay = part(REPLAY_SHARE, REPLAY_BYTES_MOST, left - ofValues(least));
      left -= replay;
      long idle = part(IDLE_READAHEAD_SHARE, IDLE_READAHEAD_BYTES_MOST, left - ofValues(least));
      left -= idle;
      long carried = (long) (left / ofValue());
      long derived =
          Math.min(Math.min(carried, answers - MIB), Math.min(memtables, VALUE_BYTES_MOST));
      long value = valueSet > 0 ? valueSet : Math.max(derived / MIB * MIB, Math.min(derived, MIB));
      long requests = left - (long) (value * ofCompactions());
      long frame = Math.min(FRAME_BYTES_MOST, Math.max(value + MIB, requests / 3));
      return new MemoryPlan(
          memtables,
          systemMemtables,
          operations,
          systemOperations,
          (int) replay,
          (int) idle,
          requests,
          systemRequests,
          (int) frame,
          answers,
          value,
          (long) (value * MERGE_COPIES),
          heap(memtables, reads(replay, idle), requests, value),
          direct(answers));
    }

    /** Of the heap one of so many parts, as far as that is free. */
    private long part(int parts, long most, long free) {
      return Math.min(Math.min(most, given.heapBytes() / parts), free);
    }

    private static List<Share> reads(long replay, long idle) {
      return Stream.of(
              new Share("logs being replayed", replay, ""),
              new Share("scans between two pages", idle, ""))
          .filter(share -> share.bytes() > 0)
          .toList();
    }

    /** How many times a value may be in compactions at a time. */
    private static double ofCompactions() {
      return MINOR_COMPACTIONS * FLUSH_COPIES + MERGE_COPIES;
    }

    private static double ofValue() {
      return ofCompactions() + REQUEST_VALUES;
    }

    private static long ofValues(long value) {
      return (long) Math.ceil(value * ofCompactions()) + requests(value);
    }

    /** However small values are, changes of tablets' records must pass: RecordChangeSize. */
    private static long requests(long value) {
      return REQUEST_VALUES * Math.max(value, VALUE_BYTES_LEAST);
    }

    private static long answersFor(long value) {
      return value + MIB;
    }

    private List<Share> heap(long memtables, List<Share> reads, long requests, long value) {
      List<Share> shares = new ArrayList<>(fixedHeap);
      shares.addAll(reads);
      shares.add(
          new Share("memtables of users' tables", memtables, Keys.MEMTABLE_TOTAL_BYTES.name()));
      shares.add(
          new Share(
              "large values in compactions, of up to " + value + " bytes each",
              (long) (value * ofCompactions()),
              Keys.VALUE_BYTES_MAX.name()));
      shares.add(new Share("requests", requests, Keys.VALUE_BYTES_MAX.name()));
      return shares;
    }

    private List<Share> direct(long answers) {
      List<Share> shares = new ArrayList<>(fixedDirect);
      shares.add(new Share("answers not yet sent", answers, Keys.VALUE_BYTES_MAX.name()));
      return shares;
    }

    private static SteleException refused(String what, long given, List<Share> needed) {
      return SteleException.refused(
          String.format(
              "a tablet server configured like this needs %.1f MiB of %s and has %.1f: give it more"
                  + " (%s on YARN, elsewhere by Java's options), or lower one of these in"
                  + " stele-site.xml:%s",
              bytes(needed) / (double) MIB,
              what,
              given / (double) MIB,
              Keys.YARN_TABLETSERVER_MEMORY.name(),
              lines(needed)));
    }
  }
}
