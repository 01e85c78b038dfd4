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
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.MethodDescriptor;
import org.apache.hadoop.thirdparty.protobuf.Message;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The {@link Transport} of one process over a {@link SimulatedNetwork}. Callers get the same
 * exceptions as over sockets.
 *
 * <p>For the holder of the simulation's baton alone.
 */
final class SimulatedTransport implements Transport, DataPlane, ControlPlane {
  /** A request of the data plane on its way. */
  private record DataRequest(RequestProto header, ByteBuffer body, Optional<MemberKey> key) {}

  /** A request of the control plane on its way. */
  private record ControlRequest(String method, Message message) {}

  private final SimulatedNetwork network;
  private final Simulation simulation;
  private final SimulatedProcess process;
  private final String host;
  private final List<Listener> listeners = new ArrayList<>();
  private Optional<MemberKey> key = Optional.empty();
  private long lastCallId;
  private TabletProto lastRead = TabletProto.getDefaultInstance();

  SimulatedTransport(
      SimulatedNetwork network, Simulation simulation, SimulatedProcess process, String host) {
    this.network = network;
    this.simulation = simulation;
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
        network
            .call(
                process,
                server,
                new SimulatedNetwork.Outgoing(
                    header.getMethodCase().name(),
                    new DataRequest(header, copy(body), key),
                    isNextTablet(request),
                    changesRecord(header)),
                Duration.ofMillis(millis))
            .thenApply(answer -> (Response) answer);
    checkLater(called, waiting);
    return called;
  }

  private void checkLater(
      CompletableFuture<Response> called, Consumer<CompletableFuture<Response>> waiting) {
    Runnable cancel =
        simulation.schedule(
            process,
            CHECK_EVERY,
            "",
            () -> {
              if (!called.isDone()) {
                checkLater(called, waiting);
                waiting.accept(called);
              }
            });
    called.whenComplete((answer, failure) -> cancel.run());
  }

  private static boolean changesRecord(RequestProto request) {
    return request.hasCheckAndMutate()
        && new TableId(request.getCheckAndMutate().getTablet().getTableId()).isSystem();
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
        network.listen(
            process,
            host,
            port,
            (peer, request, answer) -> {
              DataRequest data = (DataRequest) request;
              long arrived =
                  network.services().arrived(process, data.header(), simulation.nowNanos());
              OneAnswer responder =
                  new OneAnswer(
                      data.header().getCallId(),
                      response -> {
                        network
                            .services()
                            .answered(process, data.header(), (Response) response, arrived);
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
                    server, new ControlRequest(method.getName(), (Message) arguments[1]), timeout));
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
        network.call(
            process,
            server,
            new SimulatedNetwork.Outgoing(request.method(), request, false, false),
            timeout);
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
        network.listen(
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
      Throwable cause = e.getCause();
      return cause instanceof SteleException known ? known : failed(cause == null ? e : cause);
    } catch (RuntimeException e) {
      return failed(e);
    }
  }

  /** What callers learn of a failure: its class and its message. */
  private static IOException failed(Throwable failure) {
    IOException told =
        new RemoteException(failure.getClass().getName(), "the service failed: " + failure);
    told.initCause(failure);
    return told;
  }

  @Override
  public void retain(Set<Address> servers) {
    // Connections cost nothing here.
  }

  @Override
  public Listener servePage(int port, Supplier<StatusPage> page) throws IOException {
    return opened(network.listen(process, host, port, (peer, request, answer) -> {}));
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
