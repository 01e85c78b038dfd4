package io.stele.bulk;

import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.runtime.IoRunnable;
import io.stele.tablet.JobFileWriter;
import io.stele.tablet.SortBuffer;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.util.Progressable;

/**
 * The output of one attempt of a task: SSTables of one or several tables. They count only when
 * {@link #finish} has listed them and {@link JobOutput#publish} has made the list the task's.
 *
 * <p>Rows of a table come in ascending order; with {@link Sorting}, in any order. If a run of
 * sorted rows cannot be written, nothing more can be added and the attempt cannot finish: it would
 * lack these rows. Closing it deletes what is not finished. Not safe for use by several threads.
 */
public final class AttemptOutput implements Closeable {
  /** Files are ended between rows when they are this large, in bytes. */
  private static final long FILE_BYTES = 1L << 30;

  /**
   * How rows are sorted that come in any order: mutations are kept in memory, and whenever that is
   * full those of the largest table are sorted and written to files of their own, a run. What is in
   * a later run is the later change.
   *
   * @param bytes how much memory the mutations of all tables may take together, besides that of one
   *     mutation
   * @param progress is told now and then that sorting and writing go on
   */
  public record Sorting(long bytes, Progressable progress) {}

  /** A table that is written to. */
  private static final class Target {
    final TableId id;
    final TableSchema schema;
    final Optional<SortBuffer> buffer; // Of rows that come in any order.
    final List<FileRef> files = new ArrayList<>();
    Optional<JobFileWriter> writer = Optional.empty();
    Bytes lastRow = Bytes.EMPTY;

    Target(TableId id, TableSchema schema, Optional<SortBuffer> buffer) {
      this.id = id;
      this.schema = schema;
      this.buffer = buffer;
    }

    boolean isBuffering() {
      return buffer.isPresent() && !buffer.get().isEmpty();
    }

    long bufferBytes() {
      return isBuffering() ? buffer.get().bytes() : 0;
    }
  }

  private final JobOutput job;
  private final String attempt;
  private final JobOutput.Terms terms;
  private final Optional<Sorting> sorting;
  private final Map<String, Target> targets = new TreeMap<>(); // By the table's name.
  private int writers;
  private Optional<Throwable> lost = Optional.empty(); // Why added rows could not be written.

  AttemptOutput(JobOutput job, String attempt, JobOutput.Terms terms, Optional<Sorting> sorting) {
    this.job = job;
    this.attempt = attempt;
    this.terms = terms;
    this.sorting = sorting;
  }

  /** Adds a table that may be written to. */
  public void addTable(String name, TableId id, TableSchema schema) {
    Optional<SortBuffer> buffer =
        sorting.map(how -> new SortBuffer(schema, terms.timestamps(id), terms.valueBytesMax()));
    targets.put(name, new Target(id, schema, buffer));
  }

  /**
   * Adds what a mutation does to its row.
   *
   * @throws SteleException REFUSED if the row is before the last one and rows are not sorted, or
   *     the schema or a limit forbids the mutation; NOT_FOUND if the table was not added
   * @throws IOException if files cannot be written: this attempt cannot finish any more
   */
  public void add(String table, Mutation mutation) throws IOException {
    requireAllRows();
    Target target = targets.get(table);
    if (target == null) {
      throw SteleException.notFound(
          "\"" + table + "\" is not an output table of the job: use one of " + targets.keySet());
    }
    if (target.buffer.isPresent()) {
      target.buffer.get().add(mutation);
      makeRoom();
    } else {
      addInOrder(target, mutation);
    }
  }

  private void makeRoom() throws IOException {
    long bytes = 0;
    for (Target target : targets.values()) {
      bytes += target.bufferBytes();
    }
    if (bytes >= sorting.orElseThrow().bytes()) {
      writeRun(Collections.max(targets.values(), Comparator.comparingLong(Target::bufferBytes)));
    }
  }

  /** Writes what is in memory of a table to files of their own. */
  private void writeRun(Target target) throws IOException {
    try {
      write(
          () -> {
            JobFileWriter writer = job.writer(target.id, target.schema, name(), terms);
            target.writer = Optional.of(writer);
            target.buffer.orElseThrow().writeTo(writer, sorting.orElseThrow().progress());
            end(target);
          });
    } catch (RuntimeException | Error e) {
      lost = Optional.of(e);
      throw e;
    }
  }

  private void requireAllRows() throws IOException {
    if (lost.isPresent()) { // MapReduce may only show what a writer's end throws.
      throw new IOException(
          "attempt "
              + attempt
              + " could not write some of its rows ("
              + lost.get()
              + "): let the task fail, and be attempted again",
          lost.get());
    }
  }

  private void addInOrder(Target target, Mutation mutation) throws IOException {
    int order = mutation.row().compareTo(target.lastRow);
    if (order < 0) {
      throw SteleException.refused(
          "row \""
              + mutation.row()
              + "\" comes after \""
              + target.lastRow
              + "\": SSTables are written in the order of their rows. Have reducers write them, as"
              + " BulkOutputFormat.reduceByTablet sets up, or have tasks sort them:"
              + " BulkOutputFormat.sortInTasks");
    }
    if (order > 0 && target.writer.isPresent() && target.writer.get().bytes() >= FILE_BYTES) {
      write(() -> end(target));
    }
    if (target.writer.isEmpty()) {
      target.writer = Optional.of(job.writer(target.id, target.schema, name(), terms));
    }
    JobFileWriter writer = target.writer.get();
    write(() -> writer.add(mutation));
    target.lastRow = mutation.row();
  }

  private void write(IoRunnable write) throws IOException {
    try {
      write.run();
    } catch (IOException e) {
      lost = Optional.of(e); // What the program does about it does not bring them back.
      if (e instanceof AccessControlException closed) {
        job.explain(closed);
      }
      throw e;
    }
  }

  /** Names ascend: the tablet gives the files of a later one higher numbers. */
  private String name() {
    return String.format(Locale.ROOT, "%s_%010d", attempt, writers++);
  }

  private static void end(Target target) throws IOException {
    if (target.writer.isPresent()) {
      target.files.addAll(target.writer.get().finish());
      target.writer.get().close();
      target.writer = Optional.empty();
    }
  }

  /** Ends the files, puts them on disk, and lists them. */
  public void finish() throws IOException {
    requireAllRows();
    write(
        () -> {
          Map<TableId, List<FileRef>> files = new TreeMap<>();
          for (Target target : targets.values()) {
            if (target.isBuffering()) {
              writeRun(target);
            }
            end(target);
            files.computeIfAbsent(target.id, id -> new ArrayList<>()).addAll(target.files);
          }
          job.list(attempt, files);
        });
  }

  @Override
  public void close() throws IOException {
    for (Target target : targets.values()) {
      if (target.writer.isPresent()) {
        target.writer.get().close();
        target.writer = Optional.empty();
      }
    }
  }
}
