package io.stele.sim;

import io.stele.client.Stele;
import io.stele.lock.LockService;
import io.stele.metadata.JobNodes;
import io.stele.metadata.MasterInfo;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.tabletserver.TabletServer;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletRefs;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.Transport;
import io.stele.wire.control.ControlProtos.BalanceRequestProto;
import io.stele.wire.control.ControlProtos.BeginJobRequestProto;
import io.stele.wire.control.ControlProtos.BeginJobResponseProto;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.EndJobRequestProto;
import io.stele.wire.control.ControlProtos.MergeTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletResponseProto;
import io.stele.wire.control.ControlProtos.PinTabletRequestProto;
import io.stele.wire.control.ControlProtos.RenewJobRequestProto;
import io.stele.wire.control.ControlProtos.SplitTabletRequestProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An operator who moves tablets, drains servers and runs jobs of a {@link SimulatedCluster}, by
 * public requests. Failed requests are not retried for long.
 *
 * <p>For the holder of the simulation's baton alone.
 */
final class Operator {
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final int TRIES = 20;
  private static final int SPLIT_MAX = 16;
  private static final Duration JOB_LEASE = Duration.ofSeconds(5);
  private static final Duration JOB_PAUSE = Duration.ofMillis(300);

  private final SimulatedCluster cluster;
  private final SimulatedProcess process;
  private final LockService locks;
  private final Transport transport;
  private final ClusterView view;
  private final Stele client;

  Operator(SimulatedCluster cluster) {
    this.cluster = cluster;
    this.process = cluster.simulation().process("operator");
    this.locks = cluster.ensemble().connect(process);
    this.transport = cluster.network().transport(process, process.name());
    this.view = new ClusterView(cluster, process);
    this.client = cluster.connect(process);
  }

  /** Moves a tablet, soon. */
  void move(Fault.Move move) {
    process.start("moves", () -> quietly("move", () -> moveNow(move)));
  }

  /** Has a tablet split where its server can halve it, soon. */
  void split(int which) {
    process.start(
        "splits",
        () ->
            quietly(
                "split",
                () -> {
                  Optional<TabletRecord> tablet = choose(which);
                  if (tablet.isPresent()) {
                    splitNow(tablet.get());
                  }
                }));
  }

  /** Has a tablet of a user's table merged with the one before it, soon. */
  void merge(int which) {
    process.start("merges", () -> quietly("merge", () -> mergeNow(which)));
  }

  private void mergeNow(int which) throws IOException, InterruptedException {
    List<TabletRecord> all =
        view.records(view.tablesToServe()).stream()
            .filter(tablet -> !tablet.id().table().isSystem())
            .filter(tablet -> !tablet.extent().start().isEmpty())
            .toList();
    if (all.isEmpty()) {
      return;
    }
    TabletRecord upper = all.get(which % all.size());
    MergeTabletRequestProto request =
        MergeTabletRequestProto.newBuilder()
            .setTablet(ref(upper))
            .setRequest("merge " + process.random().nextLong())
            .build();
    for (int i = 0; i < TRIES; i++) {
      ask(master -> master.mergeTablet(null, request)); // Again, also where it is done.
      process.sleep(PAUSE);
    }
  }

  /** Has all tablets split, now, and the files of all tables rewritten after {@code delay}. */
  void splitAll(Duration delay) {
    process.start(
        "splits all",
        () -> {
          quietly("split", this::splitAllNow);
          quietly(
              "compact",
              () -> {
                process.sleep(delay);
                compactAllNow();
              });
        });
  }

  private void splitAllNow() throws IOException {
    List<TabletRecord> all =
        view.records(view.tablesToServe()).stream()
            .filter(tablet -> !tablet.id().table().isSystem())
            .toList();
    if (all.size() <= SPLIT_MAX) { // More would only make the history long.
      for (TabletRecord tablet : all) {
        process.start("splits", () -> quietly("split", () -> splitNow(tablet)));
      }
    }
  }

  /** As any user does: by the client, which asks servers as their versions know. */
  private void compactAllNow() throws IOException {
    for (TableSchema table : client.admin().listTables()) {
      process.start(
          "compacts", () -> quietly("compact", () -> client.admin().compactTable(table.name())));
    }
  }

  private void splitNow(TabletRecord tablet) throws IOException {
    SplitTabletRequestProto request =
        SplitTabletRequestProto.newBuilder().setTablet(ref(tablet)).build();
    callOwner(tablet, one -> one.splitTablet(null, request));
  }

  /** Has a job pin tablets, soon, and end, or be forgotten. */
  void run(Fault.Job job) {
    process.start("jobs", () -> quietly("run a job", () -> runNow(job)));
  }

  private void runNow(Fault.Job job) throws IOException, InterruptedException {
    BeginJobRequestProto begin =
        BeginJobRequestProto.newBuilder()
            .setRequest(JobNodes.newRequest(process))
            .setLeaseMillis(JOB_LEASE.toMillis())
            .build();
    Optional<String> name =
        ask(master -> master.beginJob(null, begin)).map(BeginJobResponseProto::getJob);
    if (name.isEmpty()) {
      return;
    }
    long end = process.nanoTime() + job.length().toNanos();
    for (int i = 0; process.nanoTime() - end < 0; i++) {
      int which = job.which() + i;
      quietly("pin", () -> pinNow(name.get(), which));
      RenewJobRequestProto renewal = RenewJobRequestProto.newBuilder().setJob(name.get()).build();
      quietly("renew", () -> ask(master -> master.renewJob(null, renewal)));
      process.sleep(JOB_PAUSE);
    }
    if (job.ended()) {
      EndJobRequestProto request = EndJobRequestProto.newBuilder().setJob(name.get()).build();
      ask(master -> master.endJob(null, request));
      quietly("pin", () -> pinNow(name.get(), job.which())); // As a request does that comes late.
    }
  }

  private void pinNow(String job, int which) throws IOException {
    Optional<TabletRecord> tablet = choose(which).filter(one -> !one.id().table().isSystem());
    if (tablet.isPresent()) {
      PinTabletRequestProto request =
          PinTabletRequestProto.newBuilder().setTablet(ref(tablet.get())).setJob(job).build();
      callOwner(tablet.get(), one -> one.pinTablet(null, request));
    }
  }

  /** Calls the server that has a tablet, if it is there. */
  private <R> void callOwner(TabletRecord tablet, ControlPlane.Call<TabletServerProtocol, R> call)
      throws IOException {
    Map<ServerId, ServerInfo> servers = view.servers();
    Optional<ServerInfo> server = tablet.assignment().server().map(servers::get);
    if (server.isPresent()) {
      call(server.get().control(), call);
    }
  }

  private <R> void call(Address server, ControlPlane.Call<TabletServerProtocol, R> call)
      throws IOException {
    transport.controlPlane().call(server, TabletServerProtocol.class, CALL_TIMEOUT, call);
  }

  private Optional<TabletRecord> choose(int which) throws IOException {
    List<TabletRecord> all = view.records(view.tablesToServe());
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(which % all.size()));
  }

  private static TabletRefProto ref(TabletRecord tablet) {
    return TabletRefs.of(tablet.id(), tablet.row(), tablet.assignment().epoch());
  }

  private void moveNow(Fault.Move move) throws IOException, InterruptedException {
    Optional<TabletRecord> tablet = choose(move.which());
    if (tablet.isEmpty()) {
      return;
    }
    MoveTabletRequestProto.Builder request =
        MoveTabletRequestProto.newBuilder().setTablet(ref(tablet.get()));
    move.to().flatMap(this::server).ifPresent(to -> request.setServerId(to.toString()));
    for (int i = 0; i < TRIES && !isMoved(request.build()); i++) {
      process.sleep(PAUSE);
    }
  }

  private Optional<ServerId> server(int number) {
    List<SimulatedCluster.Slot> slots = cluster.slots(SimulatedCluster.Kind.SERVER);
    return slots.get(number % slots.size()).server().map(TabletServer::id);
  }

  /** Turns balancing off, or on and has all tablets evened out, soon. */
  void balance(boolean off) {
    BalanceRequestProto request = BalanceRequestProto.newBuilder().setOn(!off).setNow(!off).build();
    process.start(
        "balances", () -> quietly("balance", () -> ask(master -> master.balance(null, request))));
  }

  /** Calls the active master; empty where there is none. */
  private <R> Optional<R> ask(ControlPlane.Call<MasterProtocol, R> call) throws IOException {
    Optional<Address> master = MasterInfo.address(locks);
    return master.isEmpty()
        ? Optional.empty()
        : Optional.of(
            transport.controlPlane().call(master.get(), MasterProtocol.class, CALL_TIMEOUT, call));
  }

  private boolean isMoved(MoveTabletRequestProto request) throws IOException {
    try {
      return ask(master -> master.moveTablet(null, request))
          .filter(MoveTabletResponseProto::getDone)
          .isPresent();
    } catch (SteleException e) {
      if (e.code() == SteleException.Code.RETRY_LATER) {
        return false;
      }
      throw e;
    }
  }

  /** Drains a tablet server, soon. */
  void drain(SimulatedCluster.Slot slot) {
    Optional<TabletServer> server = slot.server();
    if (server.isPresent() && !slot.process().isDead()) {
      Address address = server.get().controlAddress();
      DrainRequestProto request = DrainRequestProto.newBuilder().setStay(true).build();
      process.start(
          "drains " + slot,
          () -> quietly("drain", () -> call(address, one -> one.drain(null, request))));
    }
  }

  /** Has it take tablets again, unless it ends, without a message that could be lost. */
  void undrain(SimulatedCluster.Slot slot) {
    slot.server().filter(server -> !server.isEnding()).ifPresent(TabletServer::undrain);
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private void quietly(String what, Work work) {
    try {
      work.run();
    } catch (IOException | SteleException e) {
      cluster.simulation().note(process, "could not " + what + ": " + e);
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts an operator", e);
    }
  }
}
