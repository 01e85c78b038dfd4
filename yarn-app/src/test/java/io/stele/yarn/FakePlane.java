package io.stele.yarn;

import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Servers that are called without a network. Each call is noted as {@code server: method}, and what
 * it may take at most; the answer is an empty message.
 *
 * <p>For one thread.
 */
final class FakePlane implements ControlPlane {
  final List<String> calls = new ArrayList<>();
  final List<Duration> timeouts = new ArrayList<>();

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
                  return answer(method);
                }));
    try {
      return call.on(service);
    } catch (ServiceException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e);
    }
  }

  private static Object answer(Method method) throws Exception {
    return method.getReturnType().getMethod("getDefaultInstance").invoke(null);
  }

  @Override
  public void retain(Set<Address> servers) {}
}
