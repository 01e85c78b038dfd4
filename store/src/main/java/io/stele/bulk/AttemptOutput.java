package io.stele.bulk;

import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.tablet.JobFileWriter;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.hadoop.security.AccessControlException;

/**
 * The output of one attempt of a task: SSTables of one or several tables. They count only when
 * {@link #finish} has listed them and {@link JobOutput#publish} has made the list the task's.
 *
 * <p>Rows of a table come in ascending order. Closing it deletes what is not finished. Not safe for
 * use by several threads.
 */
public final class AttemptOutput implements Closeable {
  /** Files are ended between rows when they are this large, in bytes. */
  private static final long FILE_BYTES = 1L << 30;

  /** A table that is written to. */
  private static final class Target {
    final TableId id;
    final TableSchema schema;
    final List<FileRef> files = new ArrayList<>();
    Optional<JobFileWriter> writer = Optional.empty();
    Bytes lastRow = Bytes.EMPTY;

    Target(TableId id, TableSchema schema) {
      this.id = id;
      this.schema = schema;
    }
  }

  private final JobOutput job;
  private final String attempt;
  private final JobOutput.Terms terms;
  private final Map<String, Target> targets = new TreeMap<>(); // By the table's name.
  private int writers;

  AttemptOutput(JobOutput job, String attempt, JobOutput.Terms terms) {
    this.job = job;
    this.attempt = attempt;
    this.terms = terms;
  }

  /** Adds a table that may be written to. */
  public void addTable(String name, TableId id, TableSchema schema) {
    targets.put(name, new Target(id, schema));
  }

  /**
   * Adds what a mutation does to its row.
   *
   * @throws SteleException REFUSED if the row is before the last one, or the schema or a limit
   *     forbids the mutation; NOT_FOUND if the table was not added
   */
  public void add(String table, Mutation mutation) throws IOException {
    Target target = targets.get(table);
    if (target == null) {
      throw SteleException.notFound(
          "\"" + table + "\" is not an output table of the job: use one of " + targets.keySet());
    }
    int order = mutation.row().compareTo(target.lastRow);
    if (order < 0) {
      throw SteleException.refused(
          "row \""
              + mutation.row()
              + "\" comes after \""
              + target.lastRow
              + "\": SSTables are written in the order of their rows. Have reducers write them, as"
              + " BulkOutputFormat.reduceByTablet sets up");
    }
    if (order > 0 && target.writer.isPresent() && target.writer.get().bytes() >= FILE_BYTES) {
      write(() -> end(target));
    }
    if (target.writer.isEmpty()) {
      target.writer = Optional.of(job.writer(target.schema, name(), terms));
    }
    JobFileWriter writer = target.writer.get();
    write(() -> writer.add(mutation));
    target.lastRow = mutation.row();
  }

  private interface Write {
    void run() throws IOException;
  }

  private void write(Write write) throws IOException {
    try {
      write.run();
    } catch (AccessControlException e) {
      job.explain(e);
      throw e;
    }
  }

  private String name() {
    return attempt + "_" + writers++;
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
    write(
        () -> {
          Map<TableId, List<FileRef>> files = new TreeMap<>();
          for (Target target : targets.values()) {
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
