package io.stele.client;

import io.stele.metadata.Attempts;
import io.stele.metadata.JobFileRefs;
import io.stele.metadata.JobNodes;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.record.FileRef;
import io.stele.runtime.Deadline;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.JobFilesResponseProto;
import io.stele.wire.control.ControlProtos.RegisterFilesRequestProto;
import io.stele.wire.control.ControlProtos.SettleJobRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the commit of a job asks of tablets: to have its files wait, and, when it has committed, to
 * take them. It goes from tablet to tablet, by the rows that each says it has, so that splits and
 * moves leave no gap. Safe for use by any number of threads.
 */
final class JobCommit {
  private static final Logger LOG = LoggerFactory.getLogger(JobCommit.class);
  private static final Duration LOOK = Duration.ofMillis(50);

  private final Connection connection;
  private final Admin admin;
  private final String job;

  JobCommit(Connection connection, Admin admin, String job) {
    this.connection = connection;
    this.admin = admin;
    this.job = job;
  }

  /** Asks the server of a tablet. */
  private interface Question {
    JobFilesResponseProto ask(TabletLocation at, RowRange rows) throws IOException;
  }

  /**
   * Has files wait in all tablets with rows of them.
   *
   * @return false if the job has committed meanwhile
   */
  boolean register(TableId table, List<FileRef> files) throws IOException {
    return walk(
        table,
        files,
        "registering files of job " + job,
        (at, rows) -> {
          RegisterFilesRequestProto.Builder request =
              RegisterFilesRequestProto.newBuilder()
                  .setTablet(Admin.ref(at))
                  .setJob(job)
                  .setStartRow(ByteStrings.of(rows.start()))
                  .setEndRow(ByteStrings.of(rows.end()));
          files.stream()
              .filter(file -> file.bounds().intersection(rows).isPresent())
              .forEach(file -> request.addFiles(JobFileRefs.encode(file)));
          return admin.call(at.server(), server -> server.registerFiles(null, request.build()));
        },
        JobNodes.State.BEGUN);
  }

  /**
   * Has all tablets with rows of {@code files} take them soon: the job has committed. Where a
   * tablet cannot do so now, it will before it answers anybody.
   */
  void settle(TableId table, List<FileRef> files) throws IOException {
    try {
      settleNow(table, files);
    } catch (IOException | SteleException e) {
      if (Attempts.isInterruption(e)) {
        throw e;
      }
      LOG.info(
          "Job {} has committed; some tablets have not taken its files yet: {}", job, e.toString());
    }
  }

  private void settleNow(TableId table, List<FileRef> files) throws IOException {
    walk(
        table,
        files,
        "taking files of job " + job,
        (at, rows) -> {
          SettleJobRequestProto request =
              SettleJobRequestProto.newBuilder().setTablet(Admin.ref(at)).setJob(job).build();
          return admin.call(at.server(), server -> server.settleJob(null, request));
        },
        JobNodes.State.COMMITTED);
  }

  private boolean walk(
      TableId table, List<FileRef> files, String what, Question question, JobNodes.State wanted)
      throws IOException {
    List<FileRef> inOrder =
        files.stream()
            .sorted(Comparator.comparing((FileRef file) -> file.bounds().start()))
            .toList();
    Optional<Bytes> done = Optional.of(Bytes.EMPTY); // Up to here; empty: to the end.
    for (FileRef file : inOrder) {
      while (done.isPresent() && isBeforeEnd(done.get(), file.bounds())) {
        Bytes start = file.bounds().start();
        Bytes row = start.compareTo(done.get()) > 0 ? start : done.get();
        Optional<Optional<Bytes>> reached = tablet(table, row, what, question, wanted);
        if (reached.isEmpty()) {
          return false;
        }
        done = reached.get();
      }
    }
    return true;
  }

  private static boolean isBeforeEnd(Bytes row, RowRange rows) {
    return rows.end().isEmpty() || row.compareTo(rows.end()) < 0;
  }

  /** Asks the tablet with {@code row}; where its rows end, or empty if the job has committed. */
  private Optional<Optional<Bytes>> tablet(
      TableId table, Bytes row, String what, Question question, JobNodes.State wanted)
      throws IOException {
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    Optional<RowRange> known = Optional.empty();
    while (true) {
      TabletLocation at = connection.locateAgain(table, row, what);
      try {
        JobFilesResponseProto answer = question.ask(at, known.orElse(at.extent()));
        RowRange rows =
            new RowRange(
                ByteStrings.bytes(answer.getStartRow()), ByteStrings.bytes(answer.getEndRow()));
        if (answer.getDone() && rows.contains(row)) {
          return Optional.of(rows.end().isEmpty() ? Optional.empty() : Optional.of(rows.end()));
        }
        known = Optional.of(rows); // As its server has them: it may have more than was located.
      } catch (IOException | SteleException e) {
        if (!Admin.mayPass(e) || deadline.isOver()) {
          throw e;
        }
      }
      if (deadline.isOver()) {
        throw SteleException.retryLater(
            what
                + ": the tablet with row \""
                + row
                + "\" was not ready within "
                + connection.timeout().toMillis()
                + " ms");
      }
      JobNodes.State state =
          connection.readLocks(
              what, () -> new JobNodes(connection.runtime(), connection.locks()).state(job));
      if (state == JobNodes.State.GONE) {
        throw SteleException.notFound("job " + job + " is over: it was ended, or not renewed");
      }
      if (state != wanted) {
        return Optional.empty();
      }
      admin.pause(LOOK);
    }
  }
}
