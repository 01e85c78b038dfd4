package io.stele.sim;

import io.stele.wire.Address;
import io.stele.wire.CallException;
import io.stele.wire.Transport;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The network of a {@link Simulation}: messages take time, may arrive late and so in another order,
 * may arrive twice or not at all, and do not reach processes that are cut off.
 *
 * <p>For the holder of the simulation's baton alone.
 */
public final class SimulatedNetwork {
  private static final long LATENCY_MIN_MICROS = 50;
  private static final long LATENCY_MAX_MICROS = 400;
  private static final Duration LATE_MAX = Duration.ofSeconds(3);
  private static final int FIRST_PORT = 10_000;

  /**
   * How messages fare; each number is a probability for each message that it may concern.
   *
   * @param lateAnswers that the answer to a change of a tablet's record is late: METADATA has what
   *     its writer does not know yet
   */
  public record Weather(double lost, double late, double repeated, double lateAnswers) {
    /** All arrive, once, at once. */
    public static final Weather FAIR = new Weather(0, 0, 0, 0);
  }

  private final Simulation simulation;
  private final RandomGenerator random;
  private final Map<String, Endpoint> endpoints = new TreeMap<>(); // By address.
  private final Map<String, Duration> delays = new TreeMap<>(); // By process.
  private Weather weather = Weather.FAIR;
  private BiPredicate<SimulatedProcess, SimulatedProcess> cut = (from, to) -> false;
  private int lastPort = FIRST_PORT;
  private final ServiceRecord services = new ServiceRecord();

  /** A network that works. */
  public SimulatedNetwork(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.split();
  }

  /** Sets how messages fare from now on. */
  public void setWeather(Weather now) {
    weather = now;
  }

  /** Cuts the ways from one process to another for which {@code cuts} is true, all others not. */
  public void cut(BiPredicate<SimulatedProcess, SimulatedProcess> cuts) {
    cut = cuts;
  }

  /** Whether messages pass from the one to the other. */
  public boolean passes(SimulatedProcess from, SimulatedProcess to) {
    return from == to || !cut.test(from, to);
  }

  /** Who answered for which tablets. */
  ServiceRecord services() {
    return services;
  }

  /** The network as {@code process} has it. */
  public Transport transport(SimulatedProcess process, String host) {
    return new SimulatedTransport(this, simulation, process, host);
  }

  /** Something that listens on an address. */
  private record Endpoint(
      SimulatedProcess process,
      Receiver receiver,
      Set<PendingCall> coming,
      Set<PendingCall> pending) {}

  /**
   * A request as the network sees it.
   *
   * @param what its method, for the trace
   * @param content what the receiver gets
   * @param isNextTablet whether it reads another tablet of the table that its sender read last
   * @param changesRecord whether it changes a tablet's record
   */
  record Outgoing(String what, Object content, boolean isNextTablet, boolean changesRecord) {}

  /** What an endpoint does with a request; runs as a callback. */
  @FunctionalInterface
  interface Receiver {
    void receive(SimulatedProcess peer, Object request, Consumer<Object> answer);
  }

  /** A call without an answer yet, at the caller's end. */
  private static final class PendingCall {
    final SimulatedProcess caller;
    final boolean changesRecord;
    final CompletableFuture<Object> answer = new CompletableFuture<>();
    boolean comesTwice;

    PendingCall(SimulatedProcess caller, boolean changesRecord) {
      this.caller = caller;
      this.changesRecord = changesRecord;
    }
  }

  /**
   * Carries {@code deliver} to {@code to}, where it runs as a callback, if at all.
   *
   * @param call whose message it is: where it gets lost, the caller may learn that its connection
   *     broke
   */
  private void send(
      SimulatedProcess from, SimulatedProcess to, String what, PendingCall call, Runnable deliver) {
    if (from.isDead()) {
      return; // It unwinds.
    }
    if (from.isPaused()) {
      simulation.schedule(from, Duration.ZERO, "", () -> send(from, to, what, call, deliver));
      return; // It leaves when its process goes on.
    }
    if (random.nextDouble() < weather.lost()) {
      simulation.note(from, "loses " + what + " to " + to.name());
      if (random.nextInt(4) > 0) {
        reset(from == call.caller ? to : from, call);
      }
      return;
    }
    int copies = random.nextDouble() < weather.repeated() ? 2 : 1;
    call.comesTwice |= copies == 2 && from == call.caller;
    for (int i = 0; i < copies; i++) {
      simulation.schedule(
          to,
          latency(from, to).plus(from == call.caller ? Duration.ZERO : lateAnswer(call)),
          "",
          () -> {
            if (passes(from, to)) {
              deliver.run();
            }
          });
    }
  }

  /** Makes all messages to and from {@code process} take up to {@code delay} longer from now on. */
  void setDelay(SimulatedProcess process, Duration delay) {
    if (delay.isZero()) {
      delays.remove(process.name());
    } else {
      delays.put(process.name(), delay);
    }
  }

  /** Whether messages to and from {@code process} arrive, once and at once, where not cut off. */
  boolean isFair(SimulatedProcess process) {
    return weather.equals(Weather.FAIR) && !delays.containsKey(process.name());
  }

  /** Ends all delays. */
  void endDelays() {
    delays.clear();
  }

  private Duration latency(SimulatedProcess from, SimulatedProcess to) {
    Duration latency = latency();
    for (SimulatedProcess end :
        delays.isEmpty() ? List.<SimulatedProcess>of() : List.of(from, to)) {
      Duration delay = delays.getOrDefault(end.name(), Duration.ZERO);
      latency = latency.plusNanos(random.nextLong(delay.toNanos() + 1));
    }
    return latency;
  }

  private Duration lateAnswer(PendingCall call) {
    return call.changesRecord
            && weather.lateAnswers() > 0
            && random.nextDouble() < weather.lateAnswers()
        ? Duration.ofNanos(random.nextLong(LATE_MAX.toNanos()))
        : Duration.ZERO;
  }

  private Duration latency() {
    if (weather.late() > 0 && random.nextDouble() < weather.late()) {
      return Duration.ofNanos(random.nextLong(LATE_MAX.toNanos()));
    }
    return Duration.ofNanos(1000 * random.nextLong(LATENCY_MIN_MICROS, LATENCY_MAX_MICROS));
  }

  /** Sends a request; the answer's future fails with a {@link CallException} where none comes. */
  @SuppressWarnings("ReferenceEquality") // An endpoint of a later life is another one.
  CompletableFuture<Object> call(
      SimulatedProcess caller, Address server, Outgoing request, Duration timeout) {
    String what = request.what();
    PendingCall call = new PendingCall(caller, request.changesRecord());
    Optional<Runnable> trap =
        (request.isNextTablet() ? caller.traps().at(Step.NEXT_TABLET) : Optional.<Runnable>empty())
            .or(() -> caller.traps().at(Step.REQUEST));
    if (trap.isPresent()) {
      simulation.note(caller, "is trapped at " + what + " to " + server);
      trap.get().run();
    }
    Runnable cancel =
        simulation.schedule(
            caller,
            timeout,
            "",
            () ->
                call.answer.completeExceptionally(
                    new CallException(
                        "no answer from " + server + " within " + timeout.toMillis() + " ms",
                        true)));
    call.answer.whenComplete((answer, failure) -> cancel.run());
    Endpoint endpoint = endpoints.get(server.toString());
    SimulatedProcess to = endpoint == null ? caller : endpoint.process();
    if (endpoint == null || to.isDead()) {
      simulation.schedule(caller, latency(), "", () -> refuse(call, server));
      return call.answer;
    }
    endpoint.coming().add(call);
    call.answer.whenComplete((answer, failure) -> endpoint.coming().remove(call));
    send(
        caller,
        to,
        what,
        call,
        () -> {
          endpoint.coming().remove(call);
          if (endpoints.get(server.toString()) != endpoint) {
            send(to, caller, "refusal", call, () -> refuse(call, server));
            return;
          }
          endpoint.pending().add(call);
          endpoint
              .receiver()
              .receive(
                  caller,
                  request.content(),
                  answer -> {
                    endpoint.pending().remove(call);
                    send(to, caller, "answer to " + what, call, () -> end(call, to, answer));
                  });
        });
    return call.answer;
  }

  /**
   * The caller gets its answer. A connection carries each request once: one that came twice was
   * sent over two connections, of which the caller lost the first, so it cannot know whether the
   * answer to one tells what became of the other.
   */
  private static void end(PendingCall call, SimulatedProcess server, Object answer) {
    if (call.comesTwice) {
      call.answer.completeExceptionally(
          new CallException("the connection to " + server.name() + " was lost", true));
    } else {
      call.answer.complete(answer);
    }
  }

  private static void refuse(PendingCall call, Address server) {
    call.answer.completeExceptionally(
        new CallException(
            "cannot connect to " + server,
            call.comesTwice,
            new ConnectException("connection refused")));
  }

  /**
   * Listens on a port of {@code host}, 0 for one that is free, until it is closed or the process
   * dies.
   *
   * @throws BindException if the port is taken
   */
  Transport.Listener listen(SimulatedProcess process, String host, int port, Receiver receiver)
      throws IOException {
    int given = port == 0 ? ++lastPort : port;
    String address = new Address(host, given).toString();
    if (endpoints.containsKey(address)) {
      throw new BindException(address + " is taken");
    }
    Endpoint endpoint =
        new Endpoint(process, receiver, new LinkedHashSet<>(), new LinkedHashSet<>());
    endpoints.put(address, endpoint);
    Runnable end =
        () -> {
          if (endpoints.remove(address, endpoint)) {
            for (PendingCall call : List.copyOf(endpoint.pending())) {
              reset(process, call);
            }
            for (PendingCall call : List.copyOf(endpoint.coming())) {
              if (weather.equals(Weather.FAIR) || random.nextInt(4) > 0) {
                reset(process, call); // Its machine is there, and knows of no such connection.
              }
            }
          }
        };
    process.atDeath(end);
    return new Transport.Listener() {
      @Override
      public int port() {
        return given;
      }

      @Override
      public void close(Duration grace) {
        Duration step = grace.dividedBy(20);
        for (int i = 0; i < 20 && !endpoint.pending().isEmpty(); i++) {
          process.sleepUninterruptibly(step);
        }
        end.run();
      }

      @Override
      public void close() {
        end.run();
      }
    };
  }

  private void reset(SimulatedProcess from, PendingCall call) {
    simulation.schedule(
        call.caller,
        latency(),
        "",
        () -> {
          if (passes(from, call.caller)) {
            call.answer.completeExceptionally(
                new CallException("the connection to " + from.name() + " was lost", true));
          }
        });
  }
}
