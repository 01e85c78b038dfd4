package io.stele.client;

import io.stele.metadata.JobNodes;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.PinnedTablet;
import io.stele.runtime.Deadline;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The tablets of a table as a job has pinned them, for somebody who reads their files himself:
 * where the files are, and how to wait. Internal: for direct reading.
 *
 * <p>What it says is never older than the call: METADATA is read as any table is. So a pin that was
 * made before is there, unless its job is over. Safe for use by any number of threads.
 */
public final class PinnedTablets {
  private static final Duration LOOK = Duration.ofMillis(100);
  private static final int TILE_TRIES = 10;
  private static final int ASKED_AT_ONCE = 16;

  private final Connection connection;
  private final TableRef table;
  private final String job;
  private final JobNodes jobs;

  /** The pinned tablets of {@code table}. */
  PinnedTablets(Connection connection, TableRef table) {
    this.connection = connection;
    this.table = table;
    this.job = table.pin().orElseThrow();
    this.jobs = connection.jobNodes();
  }

  /**
   * The tablet with {@code row} in it, which may be split or merged at any time after.
   *
   * @throws SteleException NOT_FOUND if the table was dropped; REFUSED if the job is over;
   *     RETRY_LATER if METADATA could not be read in time
   */
  public PinnedTablet find(Bytes row) throws IOException {
    Deadline deadline = deadline();
    String what = "looking for the files of row \"" + row + "\" of table " + table.name();
    while (true) {
      Optional<TabletRecord> record = read(what, () -> connection.records().find(table.id(), row));
      if (record.isPresent()) {
        checkJob();
        return pinned(record.get()).orElseThrow(() -> unpinned(record.get()));
      }
      checkTable(); // Or it is being split.
      if (deadline.isOver()) {
        throw SteleException.retryLater(what + ": METADATA names no tablet with it");
      }
      pause(LOOK);
    }
  }

  /** All tablets, in order of their rows. */
  public List<PinnedTablet> all() throws IOException {
    String what = "reading the records of table " + table.name();
    for (int i = 0; i < TILE_TRIES; i++) {
      List<TabletRecord> records = read(what, () -> connection.records().readAll(table.id()));
      if (TabletRecordReader.tile(records)) {
        // Those without the pin have no row that the job reads.
        return records.stream().flatMap(record -> pinned(record).stream()).toList();
      }
      pause(LOOK); // A tablet is being split.
    }
    throw SteleException.retryLater(what + ": its tablets split faster than they can be read");
  }

  /** The tablet as the job has pinned it, if it has. */
  private Optional<PinnedTablet> pinned(TabletRecord record) {
    return record.pins().stream()
        .filter(pin -> pin.name().equals(job))
        .findFirst()
        .map(pin -> PinnedTablet.of(record.id(), record.extent(), pin, record.files()));
  }

  private SteleException unpinned(TabletRecord record) {
    return SteleException.refused(
        "tablet "
            + record.id()
            + " of table "
            + table.name()
            + " has no pin "
            + job
            + ": it was taken away, and what it kept may be gone");
  }

  private void checkJob() throws IOException {
    if (connection.readLocks("looking for job " + job, () -> jobs.read(job)).isEmpty()) {
      throw SteleException.refused(
          "job " + job + " is over: it was ended, or not renewed in time. Submit it again");
    }
  }

  private void checkTable() throws IOException {
    if (connection
        .readLocks(
            "looking for table " + table.name(), () -> connection.schemas().table(table.id()))
        .isEmpty()) {
      throw SteleException.notFound("table " + table.name() + " was dropped");
    }
  }

  /** Reads from METADATA, on another thread, so that the waiting caller can report progress. */
  private <T> T read(String what, IoCallable<T> read) throws IOException {
    CompletableFuture<T> result = new CompletableFuture<>();
    Task task =
        connection
            .runtime()
            .start(
                "read-records",
                () -> {
                  try {
                    result.complete(read.call());
                  } catch (IOException | RuntimeException | Error e) {
                    result.completeExceptionally(e);
                  }
                });
    try {
      return table.waiting().await(result, what);
    } finally {
      task.interrupt();
    }
  }

  /** A question about a file. Must be safe for use by several threads. */
  public interface Question<T> {
    /** Finds the answer; may wait for the NameNode. */
    T answer(FileRef file) throws IOException;
  }

  /**
   * Asks the same about each of {@code files}, several at a time: an answer costs a round trip.
   *
   * @return the answers, by the paths of the files
   * @throws IOException the first that a question threw; others are dropped then
   */
  public <T> Map<String, T> ask(Collection<FileRef> files, Question<T> question)
      throws IOException {
    Map<String, CompletableFuture<T>> asked = new LinkedHashMap<>();
    Map<String, T> answers = new LinkedHashMap<>();
    try (WorkerPool threads = connection.runtime().pool("ask-files", ASKED_AT_ONCE)) {
      for (FileRef file : files) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        if (asked.putIfAbsent(file.path(), answer) == null) {
          threads.execute(() -> answer(question, file, answer));
        }
      }
      for (Map.Entry<String, CompletableFuture<T>> one : asked.entrySet()) {
        String what = "looking at file " + one.getKey() + " of table " + table.name();
        answers.put(one.getKey(), table.waiting().await(one.getValue(), what));
      }
    }
    return answers;
  }

  private static <T> void answer(Question<T> question, FileRef file, CompletableFuture<T> answer) {
    try {
      answer.complete(question.answer(file));
    } catch (IOException | RuntimeException | Error e) {
      answer.completeExceptionally(e);
    }
  }

  /** The time, random numbers and locks of this process. */
  public ProcessRuntime runtime() {
    return connection.runtime();
  }

  /** The file system with the files. */
  public FileSystem files() throws IOException {
    return connection.files();
  }

  /** The directory that the paths of files are relative to. */
  public Path root() throws IOException {
    return connection.root();
  }

  /** When something that is tried from now on must have succeeded. */
  public Deadline deadline() {
    return table.deadline();
  }

  /** How long it is until {@link #deadline}, of {@code stele.client.timeout}. */
  public Duration timeout() {
    return connection.timeout();
  }

  /** Waits, and says meanwhile that somebody is alive. */
  public void pause(Duration pause) throws IOException {
    CompletableFuture<Void> over = new CompletableFuture<>();
    connection.runtime().after(pause, () -> over.complete(null));
    table.waiting().await(over, "reading table " + table.name());
  }

  /** Says that somebody is alive who goes on without waiting. */
  public void alive() {
    table.waiting().tick().ifPresent(Runnable::run);
  }

  /** The table's name. */
  public String name() {
    return table.name();
  }
}
