package io.stele.client;

import io.stele.metadata.JobFileRefs;
import io.stele.metadata.JobNodes;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.record.JobChange;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.WorkerPool;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.JobFilesResponseProto;
import io.stele.wire.control.ControlProtos.RegisterFilesRequestProto;
import io.stele.wire.control.ControlProtos.ResolveJobRequestProto;
import io.stele.wire.control.ControlProtos.RowRangeProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the commit of a job asks of tablets: to have its files wait, and, when it has committed, to
 * take them. It asks several at once, and goes from one to the next by the rows that each says it
 * has, so that splits and moves leave no gap. Safe for use by any number of threads.
 */
final class JobCommit {
  private static final Logger LOG = LoggerFactory.getLogger(JobCommit.class);
  private static final int AT_ONCE = 16;

  private final Connection connection;
  private final ServerCalls servers;
  private final String job;

  JobCommit(Connection connection, String job) {
    this.connection = connection;
    this.servers = new ServerCalls(connection);
    this.job = job;
  }

  /** Asks the server of a tablet. */
  private interface Question {
    JobFilesResponseProto ask(TabletLocation at, RowRange rows) throws IOException;
  }

  /**
   * What all tablets are asked.
   *
   * @param what for people
   * @param wanted how the job is meanwhile
   */
  private record Asking(String what, Question question, JobNodes.State wanted) {}

  /**
   * Has what the job does wait in all tablets with rows of it.
   *
   * @return false if the job has committed meanwhile
   */
  boolean register(TableId table, JobChange change) throws IOException {
    Question question =
        (at, rows) -> {
          RegisterFilesRequestProto.Builder request =
              RegisterFilesRequestProto.newBuilder()
                  .setTablet(ClusterCalls.ref(at))
                  .setJob(job)
                  .setStartRow(ByteStrings.of(rows.start()))
                  .setEndRow(ByteStrings.of(rows.end()));
          change.files().stream()
              .filter(file -> file.bounds().intersection(rows).isPresent())
              .forEach(file -> request.addFiles(JobFileRefs.encode(file)));
          change.replaced().forEach(range -> request.addReplaced(encode(range)));
          JobFilesResponseProto answer =
              servers.call(at.server(), server -> server.registerFiles(null, request.build()));
          if (request.getReplacedCount() > 0 && !answer.getReplaces()) {
            throw SteleException.refused(
                "job "
                    + job
                    + " replaces rows, which server "
                    + at.server()
                    + " is too old to do: upgrade it, and submit the job again");
          }
          return answer;
        };
    String what = "registering files of job " + job;
    return walk(table, change, new Asking(what, question, JobNodes.State.BEGUN));
  }

  private static RowRangeProto encode(RowRange rows) {
    return RowRangeProto.newBuilder()
        .setStartRow(ByteStrings.of(rows.start()))
        .setEndRow(ByteStrings.of(rows.end()))
        .build();
  }

  /**
   * Has all tablets with rows of {@code change} take it soon: the job has committed. Where a tablet
   * cannot do so now, it will before it answers anybody.
   */
  void resolve(TableId table, JobChange change) throws IOException {
    try {
      resolveNow(table, change);
    } catch (IOException | SteleException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      LOG.info(
          "Job {} has committed; some tablets have not taken its files yet: {}", job, e.toString());
    }
  }

  private void resolveNow(TableId table, JobChange change) throws IOException {
    Question question =
        (at, rows) -> {
          ResolveJobRequestProto request =
              ResolveJobRequestProto.newBuilder()
                  .setTablet(ClusterCalls.ref(at))
                  .setJob(job)
                  .build();
          return servers.call(at.server(), server -> server.resolveJob(null, request));
        };
    String what = "taking files of job " + job;
    walk(table, change, new Asking(what, question, JobNodes.State.COMMITTED));
  }

  /** Asks all tablets with rows of {@code change}, several at once. */
  private boolean walk(TableId table, JobChange change, Asking asking) throws IOException {
    AtomicBoolean over = new AtomicBoolean(); // One part failed, or the job is as nobody wanted.
    List<CompletableFuture<Boolean>> parts = new ArrayList<>();
    try (WorkerPool threads = connection.runtime().pool("commit-job", AT_ONCE)) {
      for (RowRanges rows : parts(table, change)) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        parts.add(done);
        threads.execute(
            () -> {
              try {
                done.complete(walk(table, rows, asking, over));
              } catch (IOException | RuntimeException | Error e) {
                over.set(true);
                done.completeExceptionally(e);
              }
            });
      }
      boolean all = true;
      for (CompletableFuture<Boolean> part : parts) {
        all &= Futures.await(connection.runtime(), part, asking.what());
      }
      return all;
    } finally {
      over.set(true);
    }
  }

  /** The rows that a change may change, divided where tablets meet now. */
  private List<RowRanges> parts(TableId table, JobChange change) throws IOException {
    Optional<RowRanges> rows = united(change);
    return rows.isPresent() ? connection.dividedByTablet(table, rows.get()) : List.of();
  }

  /**
   * The rows that a change may change, each once, however many files have it: or the parts of
   * tablets would have as many ranges as there are files, each.
   */
  static Optional<RowRanges> united(JobChange change) {
    List<RowRange> rows = change.rows();
    return Optional.of(rows)
        .filter(some -> !some.isEmpty()) // None is not every row here.
        .map(RowRanges::of)
        .filter(some -> !some.isEmpty());
  }

  private boolean walk(TableId table, RowRanges part, Asking asking, AtomicBoolean over)
      throws IOException {
    Optional<Bytes> done = Optional.of(Bytes.EMPTY); // Up to here; empty: to the end.
    for (RowRange rows : part.ranges()) {
      while (!over.get() && done.isPresent() && rows.isBeforeEnd(done.get())) {
        Bytes start = rows.start();
        Bytes row = start.compareTo(done.get()) > 0 ? start : done.get();
        Optional<Optional<Bytes>> reached = tablet(table, row, asking);
        if (reached.isEmpty()) {
          over.set(true);
          return false;
        }
        done = reached.get();
      }
    }
    return true;
  }

  /** Asks the tablet with {@code row}; where its rows end, or empty if the job has committed. */
  private Optional<Optional<Bytes>> tablet(TableId table, Bytes row, Asking asking)
      throws IOException {
    String what = asking.what();
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    Optional<RowRange> known = Optional.empty();
    Pauses pauses = new Pauses(connection.runtime(), what);
    Optional<String> trouble = Optional.empty(); // As the tablet's server has it.
    while (true) {
      TabletLocation at = connection.locate(table, row, what);
      try {
        JobFilesResponseProto answer = asking.question().ask(at, known.orElse(at.extent()));
        RowRange rows = ByteStrings.range(answer.getStartRow(), answer.getEndRow());
        trouble = Optional.of(answer.getTrouble()).filter(why -> !why.isEmpty());
        if (answer.getDone() && rows.contains(row)) {
          return Optional.of(rows.end().isEmpty() ? Optional.empty() : Optional.of(rows.end()));
        }
        if (!rows.contains(row)) {
          connection.forget(at); // It has been split.
        }
        known = Optional.of(rows); // As its server has them: it may have more than was located.
      } catch (IOException | SteleException e) {
        if (!ClusterCalls.mayPass(e) || deadline.isOver()) {
          throw e;
        }
        servers.forget();
        connection.forget(at);
      }
      if (deadline.isOver()) {
        throw SteleException.retryLater(
            what
                + ": the tablet with row \""
                + row
                + "\" was not ready within "
                + connection.timeout().toMillis()
                + " ms"
                + trouble.map(why -> "; its server says: " + why).orElse(""));
      }
      JobNodes.State state =
          connection.readLocks(
              what, () -> new JobNodes(connection.runtime(), connection.locks()).state(job));
      if (state == JobNodes.State.GONE) {
        throw over(job);
      }
      if (state != asking.wanted()) {
        return Optional.empty();
      }
      pauses.pause();
    }
  }

  /** Why a job cannot commit that has no node any more. */
  static SteleException over(String job) {
    return SteleException.notFound("job " + job + " is over: it was ended, or not renewed");
  }
}
