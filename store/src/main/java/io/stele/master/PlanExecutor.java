package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.FanOut;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what {@link AssignmentPlanner} decided: writes it into the tablets' records, many at
 * once, so that METADATA's log writes them together, and sends the requests to the servers.
 *
 * <p>For the master's loop alone.
 */
final class PlanExecutor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PlanExecutor.class);
  private static final int WRITES_AT_ONCE = 64;
  private static final long LOAD_AGAIN_NANOS = 2_000_000_000;

  private final ProcessRuntime runtime;
  private final TabletRecords records;
  private final TabletServers requests;
  private final WorkerPool writers;
  private final Map<TabletId, Sent> sent = new ConcurrentHashMap<>();

  /** A load request that was sent. */
  private record Sent(long epoch, long nanos) {}

  /**
   * The result of a plan.
   *
   * @param changed records as they are now
   * @param outdated rows whose records somebody else changed, or that may have been changed
   * @param complete whether nothing was left for the next step
   */
  record Outcome(List<TabletRecord> changed, List<RecordRow> outdated, boolean complete) {}

  PlanExecutor(ProcessRuntime runtime, TabletRecords records, TabletServers requests) {
    this.runtime = runtime;
    this.records = records;
    this.requests = requests;
    this.writers = runtime.pool("master-writer", WRITES_AT_ONCE - 1);
  }

  /** Forgets the requests for tablets that are not among {@code open}: they were carried out. */
  void retain(Set<TabletId> open) {
    sent.keySet().retainAll(open);
  }

  /**
   * Carries out {@code actions}. If a record cannot be written now, the other records in the same
   * tablet of METADATA are left to the next step.
   *
   * @param overtaken whether everything not yet begun must be left to the next step
   */
  Outcome execute(
      List<AssignmentStep> actions,
      MasterLoop.View view,
      ServedMetadata metadata,
      BooleanSupplier overtaken)
      throws IOException {
    Run run = new Run(view, metadata, overtaken);
    try {
      FanOut.each(runtime, writers, WRITES_AT_ONCE, actions, run::take);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "assigning tablets");
    }
    return new Outcome(List.copyOf(run.changed), List.copyOf(run.outdated), !run.left);
  }

  /** One execution of a plan. */
  private final class Run {
    final MasterLoop.View view;
    final ServedMetadata metadata;
    final BooleanSupplier overtaken;
    final Collection<TabletRecord> changed = new ConcurrentLinkedQueue<>();
    final Collection<RecordRow> outdated = new ConcurrentLinkedQueue<>();
    final Set<Optional<TabletId>> away = ConcurrentHashMap.newKeySet();
    volatile boolean left;

    Run(MasterLoop.View view, ServedMetadata metadata, BooleanSupplier overtaken) {
      this.view = view;
      this.metadata = metadata;
      this.overtaken = overtaken;
    }

    void take(AssignmentStep action) {
      if (overtaken.getAsBoolean()) {
        left = true;
        return;
      }
      TabletRecord record = view.tablet(action.tablet());
      Optional<TabletId> home =
          record.id().table().isSystem() ? Optional.empty() : metadata.home(record.row());
      if (away.contains(home)) {
        return;
      }
      try {
        act(action, record);
      } catch (RecordChangedException e) {
        LOG.debug("{} was changed by somebody else", record, e);
        outdated.add(RecordRow.of(record)); // Somebody was faster.
        left = true;
      } catch (IOException | SteleException e) {
        LOG.warn("{} failed; will retry; other tablets are not affected: {}", action, e.toString());
        outdated.add(RecordRow.of(record)); // It may have succeeded.
        left = true;
        if (!(e instanceof SteleException known)
            || known.code() == SteleException.Code.RETRY_LATER) {
          away.add(home); // What else there is to do in it would only wait, too.
        }
      } catch (RuntimeException e) { // A mistake of ours keeps no other tablet away.
        LOG.error("{} failed; will retry; other tablets are not affected", action, e);
        outdated.add(RecordRow.of(record));
        left = true;
      }
    }

    private void act(AssignmentStep action, TabletRecord record) throws IOException {
      ServerId server = action.server();
      switch (action.kind()) {
        case ASSIGN -> {
          TabletRecord assigned = assign(record, server);
          changed.add(assigned);
          load(assigned, server);
        }
        case LOAD -> {
          Sent last = sent.get(record.id());
          if (last == null
              || last.epoch() != record.assignment().epoch()
              || runtime.nanoTime() - last.nanos() > LOAD_AGAIN_NANOS) {
            load(record, server);
          }
        }
        case RELEASE -> {
          changed.add(records.release(record, "taken from " + server));
          LOG.info("Released {} from {}, which is fenced", record.id(), server);
        }
        case UNLOAD -> requests.unload(view.server(server), record);
        case DISCARD -> requests.discard(view.server(server), record);
      }
    }

    private TabletRecord assign(TabletRecord record, ServerId server) throws IOException {
      if (record.assignment().state() == Assignment.State.NONE) {
        TabletRecord assigned = records.assign(record, server);
        LOG.info("Assigned {} to {}", record.id(), server);
        return assigned;
      }
      TabletRecord assigned = records.reassign(record, server);
      LOG.info(
          "Assigned {} to {}; {}, which had it, is fenced",
          record.id(),
          server,
          record.assignment().server().orElseThrow());
      return assigned;
    }

    private void load(TabletRecord record, ServerId server) {
      sent.put(record.id(), new Sent(record.assignment().epoch(), runtime.nanoTime()));
      requests.load(view.server(server), record);
    }
  }

  @Override
  public void close() {
    writers.close();
  }
}
