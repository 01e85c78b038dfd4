package io.stele.sim;

import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Futures;
import io.stele.runtime.WorkerPool;
import io.stele.web.StatusPage;
import io.stele.wire.Address;
import io.stele.wire.CallException;
import io.stele.wire.ControlPlane;
import io.stele.wire.DataPlane;
import io.stele.wire.DataServer;
import io.stele.wire.MemberKey;
import io.stele.wire.Peer;
import io.stele.wire.Request;
import io.stele.wire.RequestHandler;
import io.stele.wire.Responder;
import io.stele.wire.Response;
import io.stele.wire.StatusCodec;
import io.stele.wire.Transport;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.BindException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.MethodDescriptor;
import org.apache.hadoop.thirdparty.protobuf.Message;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

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
  private long messages;
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

  /** How many messages were sent. */
  public long messages() {
    return messages;
  }

  /** The network as {@code process} has it. */
  public Transport transport(SimulatedProcess process, String host) {
    return new ProcessTransport(process, host);
  }

  /** Something that listens on an address. */
  private record Endpoint(
      SimulatedProcess process,
      Receiver receiver,
      Set<PendingCall> coming,
      Set<PendingCall> pending) {}

  /** What an endpoint does with a request; runs as a callback. */
  private interface Receiver {
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
    messages++;
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
  private CompletableFuture<Object> call(
      SimulatedProcess caller,
      Address server,
      String what,
      Object request,
      Duration timeout,
      boolean nextTablet) {
    PendingCall call = new PendingCall(caller, changesRecord(request));
    Optional<Runnable> trap =
        (nextTablet ? caller.traps().at(Step.NEXT_TABLET) : Optional.<Runnable>empty())
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
                  request,
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

  private Transport.Listener listen(
      SimulatedProcess process, String host, int port, Receiver receiver) throws IOException {
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

  /** A request of the data plane on its way. */
  private record DataRequest(RequestProto header, ByteBuffer body, Optional<MemberKey> key) {}

  private static boolean changesRecord(Object request) {
    return request instanceof DataRequest data
        && data.header().hasCheckAndMutate()
        && new TableId(data.header().getCheckAndMutate().getTablet().getTableId()).isSystem();
  }

  /** A request of the control plane on its way. */
  private record ControlRequest(String method, Message message) {}

  /** The network of one process. */
  private final class ProcessTransport implements Transport, DataPlane, ControlPlane {
    private final SimulatedProcess process;
    private final String host;
    private final List<Listener> listeners = new ArrayList<>();
    private Optional<MemberKey> key = Optional.empty();
    private long lastCallId;
    private TabletProto lastRead = TabletProto.getDefaultInstance();

    ProcessTransport(SimulatedProcess process, String host) {
      this.process = process;
      this.host = host;
    }

    @Override
    public String host() {
      return host;
    }

    @Override
    public void join(MemberKey memberKey) {
      key = Optional.of(memberKey);
    }

    @Override
    public DataPlane dataPlane() {
      return this;
    }

    @Override
    public ControlPlane controlPlane() {
      return this;
    }

    @Override
    public CompletableFuture<Response> call(
        Address server,
        RequestProto request,
        ByteBuffer body,
        Duration timeout,
        Consumer<CompletableFuture<Response>> waiting) {
      int millis = (int) Math.max(0, Math.min(timeout.toMillis(), Integer.MAX_VALUE));
      RequestProto header =
          request.toBuilder().setCallId(++lastCallId).setRemainingMillis(millis).build();
      CompletableFuture<Response> called =
          SimulatedNetwork.this
              .call(
                  process,
                  server,
                  header.getMethodCase().name(),
                  new DataRequest(header, copy(body), key),
                  Duration.ofMillis(millis),
                  isNextTablet(request))
              .thenApply(answer -> (Response) answer);
      lookLater(called, waiting);
      return called;
    }

    private void lookLater(
        CompletableFuture<Response> called, Consumer<CompletableFuture<Response>> waiting) {
      Runnable cancel =
          simulation.schedule(
              process,
              LOOK_EVERY,
              "",
              () -> {
                if (!called.isDone()) {
                  lookLater(called, waiting);
                  waiting.accept(called);
                }
              });
      called.whenComplete((answer, failure) -> cancel.run());
    }

    private boolean isNextTablet(RequestProto request) {
      if (!request.hasRead()) {
        return false;
      }
      TabletProto before = lastRead;
      lastRead = request.getRead().getTablet();
      return lastRead.getTableId().equals(before.getTableId())
          && !lastRead.getTablet().equals(before.getTablet());
    }

    @Override
    public Listener serveData(int port, DataServer.Limits limits, RequestHandler handler)
        throws IOException {
      return opened(
          listen(
              process,
              host,
              port,
              (peer, request, answer) -> {
                DataRequest data = (DataRequest) request;
                long arrived = services.arrived(process, data.header(), simulation.nowNanos());
                OneAnswer responder =
                    new OneAnswer(
                        data.header().getCallId(),
                        response -> {
                          services.answered(process, data.header(), (Response) response, arrived);
                          answer.accept(response);
                        });
                try {
                  boolean member = data.key().isPresent() && data.key().equals(key);
                  Peer from = new Peer(peer.name(), member);
                  handler.handle(new Request(process, data.header(), data.body(), from), responder);
                } catch (ProcessKilled | SimulationFailure e) {
                  throw e;
                } catch (RuntimeException | Error e) {
                  responder.failIfNotDone(e);
                }
              }));
    }

    @Override
    public <P, R> R call(
        Address server, Class<P> protocol, Duration timeout, ControlPlane.Call<P, R> call)
        throws IOException {
      Object proxy =
          Proxy.newProxyInstance(
              protocol.getClassLoader(),
              new Class<?>[] {protocol},
              (self, method, arguments) ->
                  invoke(
                      server,
                      new ControlRequest(method.getName(), (Message) arguments[1]),
                      timeout));
      try {
        return call.on(protocol.cast(proxy));
      } catch (ServiceException e) {
        if (e.getCause() instanceof SteleException known) {
          throw new SteleException(known.code(), known.getMessage(), known);
        }
        throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
      }
    }

    private Object invoke(Address server, ControlRequest request, Duration timeout)
        throws ServiceException {
      CompletableFuture<Object> answer =
          SimulatedNetwork.this.call(process, server, request.method(), request, timeout, false);
      try {
        Object result = process.await(answer);
        if (result instanceof Throwable failure) {
          throw new ServiceException(failure);
        }
        return result;
      } catch (InterruptedException e) {
        throw new ServiceException(Futures.interrupted(e, "calling " + server));
      } catch (ExecutionException e) {
        boolean refused = e.getCause() instanceof CallException lost && !lost.mayHaveExecuted();
        throw new ServiceException(
            refused
                ? new ConnectException("cannot connect to " + server)
                : new SocketTimeoutException("no answer from " + server));
      }
    }

    @Override
    public Listener serveControl(int port, int handlers, Class<?> protocol, BlockingService service)
        throws IOException {
      WorkerPool pool = process.pool("control", handlers);
      return opened(
          listen(
              process,
              host,
              port,
              (peer, request, answer) ->
                  pool.execute(() -> answer.accept(serve(service, (ControlRequest) request)))));
    }

    private Object serve(BlockingService service, ControlRequest request) {
      MethodDescriptor method =
          service.getDescriptorForType().getMethods().stream()
              .filter(one -> one.getName().equalsIgnoreCase(request.method()))
              .findFirst()
              .orElseThrow(() -> new IllegalStateException("no method " + request.method()));
      try {
        return service.callBlockingMethod(method, null, request.message());
      } catch (SteleException e) {
        return e;
      } catch (ServiceException e) {
        return e.getCause() instanceof SteleException known
            ? known
            : new IOException("the service failed: " + e.getMessage(), e);
      } catch (RuntimeException e) {
        return new IOException("the service failed: " + e, e);
      }
    }

    @Override
    public void retain(Set<Address> servers) {
      // Connections cost nothing here.
    }

    @Override
    public Listener servePage(int port, Supplier<StatusPage> page) throws IOException {
      return opened(listen(process, host, port, (peer, request, answer) -> {}));
    }

    private Listener opened(Listener listener) {
      listeners.add(listener);
      return listener;
    }

    @Override
    public void close() {
      listeners.forEach(Listener::close);
      listeners.clear();
    }
  }

  private static ByteBuffer copy(ByteBuffer body) {
    ByteBuffer copy = ByteBuffer.allocate(body.remaining());
    copy.put(body.duplicate()).flip();
    return copy;
  }

  /** Takes the one answer to a call. */
  private static final class OneAnswer implements Responder {
    private final long callId;
    private final Consumer<Object> answer;
    private boolean done;

    OneAnswer(long callId, Consumer<Object> answer) {
      this.callId = callId;
      this.answer = answer;
    }

    @Override
    public void answer(ResponseProto response, ByteBuffer body) {
      if (done) {
        throw new IllegalStateException("call " + callId + " was answered before");
      }
      done = true;
      StatusProto status = response.hasStatus() ? response.getStatus() : StatusProto.OK;
      answer.accept(
          new Response(
              response.toBuilder().setCallId(callId).setStatus(status).build(), copy(body)));
    }

    void failIfNotDone(Throwable failure) {
      if (!done) {
        answer(StatusCodec.response(failure), DataPlane.EMPTY);
      }
    }
  }
}
