package io.stele.yarn;

import io.stele.model.TableId;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.control.ControlProtos.HostedTabletProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.TabletRefProto;
import io.stele.wire.control.ControlProtos.UnloadTabletsRequestProto;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Tablet servers that are called without a network. They have tablets until they are asked to
 * unload them. Each call is noted as {@code server: method}, and what it may take at most.
 *
 * <p>Safe for use by several threads.
 */
final class FakePlane implements ControlPlane {
  final List<String> calls = new CopyOnWriteArrayList<>();
  final List<Duration> timeouts = new CopyOnWriteArrayList<>();

  /** The tables of the tablets that each server has. */
  final Map<Address, List<TableId>> tablets = new ConcurrentHashMap<>();

  /** How long a server takes to unload, on this runtime. */
  Duration unloadTakes = Duration.ZERO;

  private final ProcessRuntime runtime;

  /** How the next requests to unload tablets end, before the first that is heard. */
  final Deque<IOException> unloadFailures = new ConcurrentLinkedDeque<>();

  FakePlane(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  @Override
  public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
      throws IOException {
    P service =
        protocol.cast(
            Proxy.newProxyInstance(
                protocol.getClassLoader(),
                new Class<?>[] {protocol},
                (proxy, method, arguments) -> {
                  calls.add(server.host() + ": " + method.getName());
                  timeouts.add(timeout);
                  return answer(server, method, arguments[1]);
                }));
    try {
      return call.on(service);
    } catch (ServiceException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e);
    }
  }

  private Object answer(Address server, Method method, Object request) throws Exception {
    if (method.getName().equals("report")) {
      return reportOf(server);
    }
    if (request instanceof UnloadTabletsRequestProto unload) {
      IOException failure = unloadFailures.poll();
      if (failure != null) {
        throw new ServiceException(failure);
      }
      if (!unloadTakes.isZero()) {
        runtime.sleep(unloadTakes);
      }
      for (TabletRefProto tablet : unload.getTabletsList()) {
        tablets.get(server).remove(new TableId(tablet.getTableId()));
      }
    }
    return method.getReturnType().getMethod("getDefaultInstance").invoke(null);
  }

  private ServerReportResponseProto reportOf(Address server) {
    ServerReportResponseProto.Builder report = ServerReportResponseProto.newBuilder();
    for (TableId table : tablets.get(server)) {
      TabletRefProto tablet =
          TabletRefProto.newBuilder()
              .setTableId(table.toString())
              .setTablet("t")
              .setEpoch(1)
              .build();
      report.addTablets(HostedTabletProto.newBuilder().setTablet(tablet).setState("LOADED"));
    }
    return report.buildPartial(); // It says nothing of the server.
  }

  @Override
  public void retain(Set<Address> servers) {}
}
