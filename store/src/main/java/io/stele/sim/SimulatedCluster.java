package io.stele.sim;

import io.stele.client.Stele;
import io.stele.config.ClusterConfig;
import io.stele.config.ProcessMemory;
import io.stele.lock.LockService;
import io.stele.master.Applications;
import io.stele.master.Master;
import io.stele.metadata.MasterInfo;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.sim.check.Violation;
import io.stele.tabletserver.ServerStart;
import io.stele.tabletserver.TabletServer;
import io.stele.wire.Address;
import io.stele.wire.MasterProtocol;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.Transport;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.ServerExitedRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * A whole cluster in a {@link Simulation}: masters and tablet servers, each in a process that may
 * die at any moment and is then started again, as an ApplicationMaster would; and the network, lock
 * service and file system that they share.
 *
 * <p>For the holder of the simulation's baton alone.
 */
public final class SimulatedCluster {
  /** How the names of processes for clients begin. */
  static final String CLIENT = "client-";

  private static final ProcessMemory MEMORY = new ProcessMemory(1L << 30, 1L << 30);
  private static final long RESTART_MAX_MILLIS = 2000;
  private static final long FAREWELL_MAX_MILLIS = 300;
  private static final long REPORT_MAX_MILLIS = 500;
  private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(5);

  /** What a slot is for. */
  public enum Kind {
    MASTER,
    SERVER
  }

  /** One member of the cluster: a process, and another after each death. */
  public static final class Slot {
    private final Kind kind;
    private final int number;
    private int starts;
    private Optional<SimulatedEnsemble.Session> session = Optional.empty();
    private Optional<TabletServer> server = Optional.empty();

    private Slot(Kind kind, int number) {
      this.kind = kind;
      this.number = number;
    }

    /** How often it has been started. */
    int starts() {
      return starts;
    }

    /** The process it has now, or had last. */
    public SimulatedProcess process() {
      return session().process();
    }

    /** The session of that process. */
    public SimulatedEnsemble.Session session() {
      return session.orElseThrow();
    }

    /** The tablet server in it, once it has started. */
    public Optional<TabletServer> server() {
      return server;
    }

    @Override
    public String toString() {
      return (kind == Kind.MASTER ? "master-" : "server-") + number;
    }
  }

  private final Simulation simulation;
  private final Configuration conf;
  private final SimulatedNetwork network;
  private final SimulatedEnsemble ensemble;
  private final SimulatedFiles files;
  private final RandomGenerator random;
  private final SimulatedProcess supervisor;
  private final Transport supervisorTransport;
  private final LockService supervisorLocks;
  private final List<Slot> slots = new ArrayList<>();
  private boolean startsAgain = true;
  private Optional<Operator> operator = Optional.empty();
  private int clients;
  private final List<Violation> violations = new ArrayList<>();
  private final List<String> ends = new ArrayList<>();

  /**
   * A cluster without members yet.
   *
   * @param conf of all of them
   */
  public SimulatedCluster(Simulation simulation, Configuration conf) {
    this.simulation = simulation;
    this.conf = conf;
    this.random = simulation.split();
    this.network = new SimulatedNetwork(simulation);
    this.ensemble =
        new SimulatedEnsemble(simulation, network, ClusterConfig.of(conf).sessionTimeout());
    this.files = new SimulatedFiles(simulation, network);
    this.supervisor = simulation.process("supervisor");
    this.supervisorTransport = network.transport(supervisor, "supervisor");
    this.supervisorLocks = ensemble.connect(supervisor);
  }

  /** The simulation it lives in. */
  public Simulation simulation() {
    return simulation;
  }

  /** The configuration of its members. */
  public Configuration conf() {
    return conf;
  }

  /** Its network. */
  public SimulatedNetwork network() {
    return network;
  }

  /** Its lock service. */
  public SimulatedEnsemble ensemble() {
    return ensemble;
  }

  /** Its file system. */
  public SimulatedFiles files() {
    return files;
  }

  /** All members of a kind. */
  public List<Slot> slots(Kind kind) {
    return slots.stream().filter(slot -> slot.kind == kind).toList();
  }

  /** Adds a member, and starts it again whenever it has ended. */
  public Slot add(Kind kind) {
    Slot slot = new Slot(kind, slots(kind).size() + 1);
    slots.add(slot);
    start(slot);
    supervisor.start("looks after " + slot, () -> lookAfter(slot));
    return slot;
  }

  private void start(Slot slot) {
    slot.starts++;
    SimulatedProcess process = simulation.process(slot + "." + slot.starts);
    SimulatedEnsemble.Session session = ensemble.connect(process);
    slot.session = Optional.of(session);
    slot.server = Optional.empty();
    process.start("main", () -> run(slot, process, session));
  }

  private void run(Slot slot, SimulatedProcess process, LockService locks) {
    Transport transport = network.transport(process, slot.toString());
    try {
      switch (slot.kind) {
        case MASTER -> {
          Master master =
              Master.start(
                  new Master.Environment(
                      conf,
                      process,
                      files.mount(process),
                      locks,
                      transport,
                      Optional.of(process.name()),
                      Applications.NONE));
          process.await(master.ended());
        }
        case SERVER -> {
          TabletServer server =
              ServerStart.start(
                  new TabletServer.Environment(
                      conf,
                      process,
                      files.mount(process),
                      locks,
                      transport,
                      MEMORY,
                      Optional.of(process.name()),
                      why -> abort(slot, process, why)));
          slot.server = Optional.of(server);
          server.await();
        }
      }
    } catch (InterruptedException | ExecutionException | IOException | SteleException e) {
      simulation.note(process, "ends: " + e);
      ends.add(process.name() + " ended: " + e);
    }
    process.kill();
  }

  private void abort(Slot slot, SimulatedProcess process, String why) {
    simulation.note(process, "ends itself: " + why);
    ends.add(process.name() + " ended itself: " + why);
    if (why.contains(SimulatedFiles.POISON)) {
      violations.add(new Violation("poison", process.name() + " ended for one tablet: " + why));
    }
    if (why.contains("the log of its")
        && !process.isDead()
        && slot.server.filter(this::hasItsLog).isPresent()) {
      violations.add(new Violation("log", process.name() + " gave up its log: " + why));
    }
    if (random.nextBoolean()) {
      process.start("farewell", () -> sayFarewell(slot, process));
    } else {
      process.kill();
    }
  }

  private void sayFarewell(Slot slot, SimulatedProcess process) {
    try {
      process.sleep(Duration.ofMillis(random.nextLong(FAREWELL_MAX_MILLIS)));
      if (slot.process() == process) {
        slot.session().close();
      }
      process.sleep(Duration.ofMillis(random.nextLong(FAREWELL_MAX_MILLIS)));
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts a farewell", e);
    } finally {
      process.kill();
    }
  }

  /** Whether nobody has fenced it. */
  private boolean hasItsLog(TabletServer server) {
    return files.disk().files().stream()
        .map(Path::getParent)
        .anyMatch(
            directory ->
                directory.getName().equals(server.id().toString())
                    && directory.getParent().getName().equals("logs"));
  }

  /** Kills all members at one moment; they start again. */
  void killAll() {
    for (Slot slot : slots) {
      slot.process().kill();
    }
  }

  private void lookAfter(Slot slot) {
    try {
      while (true) {
        CompletableFuture<Void> death = new CompletableFuture<>();
        SimulatedProcess process = slot.process();
        Optional<ServerId> id = Optional.empty();
        process.atDeath(() -> death.complete(null));
        supervisor.await(death);
        if (slot.server.isPresent()) {
          id = Optional.of(slot.server.get().id());
        }
        if (id.isPresent() && random.nextBoolean()) {
          ServerId dead = id.get();
          supervisor.start("reports " + dead, () -> report(dead, true));
        }
        supervisor.sleep(Duration.ofMillis(random.nextLong(RESTART_MAX_MILLIS)));
        if (!startsAgain) {
          return;
        }
        start(slot);
      }
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException("nobody interrupts the supervisor", e);
    }
  }

  /** Tells the master that a tablet server may have ended, as of one on a lost node. */
  public void suspect(Slot slot) {
    slot.server
        .map(TabletServer::id)
        .ifPresent(id -> supervisor.start("suspects " + id, () -> report(id, false)));
  }

  /** Tells the master that a tablet server's process has ended. */
  private void report(ServerId dead, boolean seen) {
    try {
      supervisor.sleep(Duration.ofMillis(random.nextLong(REPORT_MAX_MILLIS)));
      Optional<Address> master = MasterInfo.address(supervisorLocks);
      if (master.isPresent()) {
        supervisorTransport
            .controlPlane()
            .call(
                master.get(),
                MasterProtocol.class,
                REPORT_TIMEOUT,
                protocol ->
                    protocol.serverExited(
                        null,
                        ServerExitedRequestProto.newBuilder()
                            .setServerId(dead.toString())
                            .setSeen(seen)
                            .build()));
      }
    } catch (InterruptedException | IOException | SteleException e) {
      simulation.note(supervisor, "could not report " + dead + ": " + e);
    }
  }

  /** From now on no process is started in place of one that has ended. */
  void startNoMore() {
    startsAgain = false;
  }

  /** Asks a tablet server to drain itself and end, as an operator would. */
  public void drainAndEnd(Slot slot) {
    drainAndEnd(slot, false);
  }

  /** Likewise, and perhaps only while another server takes tablets. */
  void drainAndEnd(Slot slot, boolean unlessLast) {
    drain(slot, DrainRequestProto.newBuilder().setUnlessLast(unlessLast).build());
  }

  /** Sends a tablet server the request, soon. */
  void drain(Slot slot, DrainRequestProto request) {
    Optional<TabletServer> server = slot.server;
    if (server.isPresent() && !slot.process().isDead()) {
      Address address = server.get().controlAddress();
      supervisor.start("drains " + slot, () -> drain(address, request));
    }
  }

  private void drain(Address server, DrainRequestProto request) {
    try {
      supervisorTransport
          .controlPlane()
          .call(
              server,
              TabletServerProtocol.class,
              REPORT_TIMEOUT,
              protocol -> protocol.drain(null, request));
    } catch (IOException | SteleException e) {
      simulation.note(supervisor, "could not drain " + server + ": " + e);
    }
  }

  /** Who moves tablets and drains servers; there once somebody asks for it. */
  Operator operator() {
    if (operator.isEmpty()) {
      operator = Optional.of(new Operator(this));
    }
    return operator.get();
  }

  /** Whether no fault touches {@code process} now, and it lives. */
  boolean isUntouched(SimulatedProcess process) {
    return !process.isDead()
        && !process.isPaused()
        && process.hasRightClock()
        && !ensemble.isFaulty()
        && !files.isFaulty()
        && network.isFair(process)
        && passesBothWays(process, ensemble.machine())
        && passesBothWays(process, files.machine())
        && slots.stream().allMatch(slot -> passesBothWays(process, slot.process()))
        && slots.stream()
            .map(Slot::session)
            .noneMatch(session -> session.process() == process && session.isEnding());
  }

  private boolean passesBothWays(SimulatedProcess one, SimulatedProcess other) {
    return network.passes(one, other) && network.passes(other, one);
  }

  /** Processes that ended themselves and should not have. */
  List<Violation> violations() {
    return List.copyOf(violations);
  }

  /** Each end of a process that nobody asked for and that was not a kill, and its reason. */
  List<String> ends() {
    return List.copyOf(ends);
  }

  /** A new process for clients. */
  public SimulatedProcess clientProcess() {
    return simulation.process(CLIENT + ++clients);
  }

  /** A connection of {@code process} to the cluster. */
  public Stele connect(SimulatedProcess process) {
    return Stele.over(
        conf,
        process,
        ensemble.connect(process),
        network.transport(process, process.name()),
        Optional.of(files.mount(process)));
  }

  /** Ends all faults: the network, the lock service and the file system work, and all clocks. */
  public void heal() {
    network.cut((from, to) -> false);
    network.setWeather(SimulatedNetwork.Weather.FAIR);
    network.endDelays();
    ensemble.setDown(false);
    ensemble.setLostAnswers(0);
    files.setWeather(SimulatedFiles.Weather.FAIR);
    files.setFull(false);
    files.setAway(false);
    files.endPoison();
    for (Slot slot : slots) {
      slot.process().traps().clear();
      slot.process().resume();
      if (!slot.process().isEnding()) {
        slot.server.filter(server -> !server.isEnding()).ifPresent(TabletServer::undrain);
      }
      slot.process().setSkew(Duration.ZERO);
      files.setStale(slot.process(), false);
    }
  }
}
