package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.Settled;
import io.stele.model.TaskProgress;
import java.util.Arrays;
import java.util.Optional;

/**
 * The remembered state of a task's settled records: how far they go, a digest of all of them, and
 * digests of a few records that the tablet has applied itself. So the memory does not depend on the
 * number of records.
 *
 * <p>The few are chosen by their numbers alone, so that the samples of two tablets, or of two
 * files, can be united. Not safe for use by several threads: it belongs to {@link
 * ClientOperations}.
 *
 * <pre>
 * task   := job:prefixed below:varlong digest:u64 level:u8 samples:varint sample*
 * sample := number:varlong digest:u64                                in ascending order of number
 * </pre>
 */
final class TaskMemory {
  /** At most this many records are distinguished from others individually. */
  static final int SAMPLES_MAX = 32;

  private static final long BYTES = 120;
  private static final int LEVEL_MAX = 63;
  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  private Optional<String> job = Optional.empty();
  private boolean jobLogged;
  private Settled settled = Settled.NONE;
  private int level; // Of 2^level records one is in the sample.
  private long[] numbers = {}; // Ascending.
  private long[] digests = {};

  /** The memory of the task, in bytes; all tasks of a job share the job's name. */
  long bytes() {
    return BYTES + 2L * Long.BYTES * numbers.length;
  }

  /** The job that the task works for; empty if not known. */
  Optional<String> job() {
    return job;
  }

  /** How far the task has come, as far as the tablet knows. */
  Settled settled() {
    return settled;
  }

  /** Whether the log, from the last opening on, or a file names the job. */
  boolean isJobLogged() {
    return jobLogged;
  }

  void jobIsLogged() {
    jobLogged = true;
  }

  /** Takes in what an attempt says; returns whether the task has come further. */
  boolean hear(TaskProgress said) {
    job = said.job().or(() -> job);
    return hear(said.settled());
  }

  private boolean hear(Settled said) {
    if (said.below() <= settled.below()) {
      return false;
    }
    settled = said;
    return true;
  }

  /** Whether an attempt says that the same records were different. */
  boolean contradicts(Settled said) {
    return said.below() == settled.below() && said.digest() != settled.digest();
  }

  /** Called when a record that this tablet applied is settled: may add its digest to the sample. */
  void sample(long number, long digest) {
    int at = Arrays.binarySearch(numbers, number);
    if (at >= 0 || !isChosen(number)) {
      return;
    }
    insert(~at, number, digest);
    while (numbers.length > SAMPLES_MAX) {
      thinOut(level + 1);
    }
  }

  private boolean isChosen(long number) {
    long hash = number * MULTIPLIER;
    return level < LEVEL_MAX && ((hash ^ hash >>> 32) & ((1L << level) - 1)) == 0;
  }

  private void insert(int at, long number, long digest) {
    long[] moreNumbers = Arrays.copyOf(numbers, numbers.length + 1);
    long[] moreDigests = Arrays.copyOf(digests, numbers.length + 1);
    System.arraycopy(numbers, at, moreNumbers, at + 1, numbers.length - at);
    System.arraycopy(digests, at, moreDigests, at + 1, numbers.length - at);
    moreNumbers[at] = number;
    moreDigests[at] = digest;
    numbers = moreNumbers;
    digests = moreDigests;
  }

  private void thinOut(int newLevel) {
    level = Math.max(level, newLevel);
    int kept = 0;
    for (int i = 0; i < numbers.length; i++) {
      if (isChosen(numbers[i])) {
        numbers[kept] = numbers[i];
        digests[kept++] = digests[i];
      }
    }
    numbers = Arrays.copyOf(numbers, kept);
    digests = Arrays.copyOf(digests, kept);
  }

  /** Discards the sample permanently. */
  void forgetSample() {
    thinOut(LEVEL_MAX);
  }

  /** Whether a settled record is known to have been different. */
  boolean isOther(long number, long digest) {
    int at = Arrays.binarySearch(numbers, number);
    return at >= 0 && digests[at] != digest;
  }

  /** A copy without a sample. */
  TaskMemory withoutSample() {
    TaskMemory copy = new TaskMemory();
    copy.job = job;
    copy.settled = settled;
    return copy;
  }

  void encode(ByteWriter out) {
    out.writePrefixed(Bytes.of(job.orElse("")))
        .writeVarlong(settled.below())
        .writeLong(settled.digest())
        .writeByte(level)
        .writeVarint(numbers.length);
    for (int i = 0; i < numbers.length; i++) {
      out.writeVarlong(numbers[i]).writeLong(digests[i]);
    }
  }

  /**
   * Adds what {@link #encode} wrote about the task, which may be more or less than is known here.
   */
  void restore(ByteReader in) throws MalformedException {
    String name = in.readPrefixed().toUtf8();
    if (!name.isEmpty()) {
      job = Optional.of(name);
      jobLogged = true;
    }
    long below = in.readVarlong();
    long digest = in.readLong();
    if (below < 1) {
      throw in.malformed("records of a task are settled below " + below);
    }
    hear(new Settled(below, digest));
    int theirs = in.readByte();
    int count = in.readVarint();
    if (theirs > LEVEL_MAX || count > SAMPLES_MAX) {
      throw in.malformed("a task has " + count + " samples of level " + theirs);
    }
    thinOut(theirs);
    for (int i = 0; i < count; i++) {
      sample(in.readVarlong(), in.readLong());
    }
  }
}
