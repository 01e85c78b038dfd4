package io.stele.client;

import io.stele.metadata.JobFileRefs;
import io.stele.metadata.JobNodes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.record.JobChange;
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
 * take them. It polls several at once, and goes from one to the next by the rows that each says it
 * has, so that splits and moves leave no gap. Safe for use by any number of threads.
 */
final class JobCommit {
  private static final Logger LOG = LoggerFactory.getLogger(JobCommit.class);
  private static final int AT_ONCE = 16;

  private final Connection connection;
  private final TabletPolling tablets;
  private final String job;

  JobCommit(Connection connection, String job) {
    this.connection = connection;
    this.tablets = new TabletPolling(connection);
    this.job = job;
  }

  /**
   * What all tablets are asked to do.
   *
   * @param what for people
   * @param expected the state that the job must keep while tablets are polled
   */
  private record Polling(String what, TabletPolling.Request request, JobNodes.State expected) {}

  /**
   * Has what the job does wait in all tablets with rows of it.
   *
   * @return false if the job has committed meanwhile
   */
  boolean register(TableId table, JobChange change) throws IOException {
    TabletPolling.Request registration =
        (servers, at, rows) -> {
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
          JobFilesResponseProto response =
              servers.call(at.server(), server -> server.registerFiles(null, request.build()));
          if (request.getReplacedCount() > 0 && !response.getReplaces()) {
            throw SteleException.refused(
                "job "
                    + job
                    + " replaces rows, which server "
                    + at.server()
                    + " is too old to do: upgrade it, and submit the job again");
          }
          return asAnswer(response);
        };
    String what = "registering files of job " + job;
    return pollAll(table, change, new Polling(what, registration, JobNodes.State.BEGUN));
  }

  private static TabletPolling.Answer asAnswer(JobFilesResponseProto response) {
    RowRange rows = ByteStrings.range(response.getStartRow(), response.getEndRow());
    return new TabletPolling.Answer(response.getDone(), rows, response.getTrouble());
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
    TabletPolling.Request resolution =
        (servers, at, rows) -> {
          ResolveJobRequestProto request =
              ResolveJobRequestProto.newBuilder()
                  .setTablet(ClusterCalls.ref(at))
                  .setJob(job)
                  .build();
          return asAnswer(servers.call(at.server(), server -> server.resolveJob(null, request)));
        };
    String what = "taking files of job " + job;
    pollAll(table, change, new Polling(what, resolution, JobNodes.State.COMMITTED));
  }

  /**
   * Polls all tablets with rows of {@code change}, several at once.
   *
   * @return false if the job did not keep the expected state
   */
  private boolean pollAll(TableId table, JobChange change, Polling polling) throws IOException {
    AtomicBoolean over = new AtomicBoolean(); // One part failed, or the job's state has changed.
    List<CompletableFuture<Boolean>> parts = new ArrayList<>();
    try (WorkerPool threads = connection.runtime().pool("commit-job", AT_ONCE)) {
      for (RowRanges rows : parts(table, change)) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        parts.add(done);
        threads.execute(
            () -> {
              try {
                done.complete(pollPart(table, rows, polling, over));
              } catch (IOException | RuntimeException | Error e) {
                over.set(true);
                done.completeExceptionally(e);
              }
            });
      }
      boolean all = true;
      for (CompletableFuture<Boolean> part : parts) {
        all &= Futures.await(connection.runtime(), part, polling.what());
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
    // RowRanges.of reads no range as every row; here it means no row.
    return Optional.of(change.rows())
        .filter(some -> !some.isEmpty())
        .map(RowRanges::of)
        .filter(some -> !some.isEmpty());
  }

  private boolean pollPart(TableId table, RowRanges part, Polling polling, AtomicBoolean over)
      throws IOException {
    RowRanges left = part;
    while (!over.get() && !left.isEmpty()) {
      Optional<RowRange> done =
          tablets.untilDone(
              table, left.first(), polling.what(), polling.request(), () -> isAsExpected(polling));
      if (done.isEmpty()) {
        over.set(true);
        return false;
      }
      left = left.from(done.get().end());
    }
    return true;
  }

  private boolean isAsExpected(Polling polling) throws IOException {
    JobNodes.State state =
        connection.readLocks(polling.what(), () -> connection.jobNodes().state(job));
    if (state == JobNodes.State.GONE) {
      throw over(job);
    }
    return state == polling.expected();
  }

  /** Why a job cannot commit that has no node any more. */
  static SteleException over(String job) {
    return SteleException.notFound("job " + job + " is over: it was ended, or not renewed");
  }
}
