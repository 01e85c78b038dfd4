package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.SystemRuntime;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeys;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.RetriableException;
import org.apache.hadoop.ipc.StandbyException;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.impl.YarnClientImpl;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * YARN's client, with calls that end in time. By itself it counts attempts, each of which may take
 * minutes at a ResourceManager that hangs. Here an attempt takes seconds, and one that is not
 * answered is made again only until the caller's patience ends. Then the call throws {@link
 * SteleException} RETRY_LATER.
 *
 * <p>Safe for use by any number of threads.
 */
final class ResourceManagerClient extends YarnClientImpl {
  private static final int ANSWER_MILLIS = 10_000;
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final Duration patience;

  private ResourceManagerClient(Duration patience) {
    this.patience = patience;
  }

  /**
   * A client of the ResourceManager that {@code conf} names.
   *
   * @param patience for how long it goes on to connect: a ResourceManager may be restarting, or
   *     another take over. One that hangs is given up after two attempts, whatever is left of it
   */
  static YarnClient start(Configuration conf, Duration patience) {
    Configuration impatient = new YarnConfiguration(conf);
    QuickConnects.configure(impatient);
    impatient.setInt(CommonConfigurationKeys.IPC_CLIENT_RPC_TIMEOUT_KEY, ANSWER_MILLIS);
    // Two attempts: on a connection that was open, or at one of two ResourceManagers, and anew.
    impatient.setLong(YarnConfiguration.RESOURCEMANAGER_CONNECT_MAX_WAIT_MS, PAUSE.toMillis());
    impatient.setLong(
        YarnConfiguration.RESOURCEMANAGER_CONNECT_RETRY_INTERVAL_MS, PAUSE.toMillis());
    impatient.setInt(YarnConfiguration.CLIENT_FAILOVER_MAX_ATTEMPTS, 1);
    YarnClient client = new ResourceManagerClient(patience);
    client.init(impatient);
    client.start();
    return client;
  }

  @Override
  protected void serviceStart() throws Exception {
    super.serviceStart();
    rmClient =
        (ApplicationClientProtocol)
            Proxy.newProxyInstance(
                ApplicationClientProtocol.class.getClassLoader(),
                new Class<?>[] {ApplicationClientProtocol.class},
                new Bounded(getConfig(), rmClient, patience));
  }

  /** Makes the calls. */
  private record Bounded(Configuration conf, ApplicationClientProtocol real, Duration patience)
      implements InvocationHandler, Closeable {
    @Override
    public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
      Deadline deadline = Deadline.after(SystemRuntime.INSTANCE, patience);
      while (true) {
        try {
          return method.invoke(real, args);
        } catch (InvocationTargetException e) {
          if (!(e.getCause() instanceof IOException failure) || hasAnswered(failure)) {
            throw e.getCause();
          }
          if (failure instanceof SocketTimeoutException || deadline.isOver()) {
            throw Preflight.noAnswer(conf, failure);
          }
        }
        pause();
      }
    }

    /** Whether the call reached a ResourceManager that is active, or the caller has given it up. */
    private static boolean hasAnswered(IOException failure) {
      if (failure instanceof StandbyException || failure instanceof RetriableException) {
        return false;
      }
      boolean wasGivenUp =
          failure instanceof InterruptedIOException && !(failure instanceof SocketTimeoutException);
      return wasGivenUp
          || failure instanceof RemoteException
          || failure.getCause() instanceof RemoteException;
    }

    private static void pause() throws InterruptedIOException {
      try {
        SystemRuntime.INSTANCE.sleep(PAUSE);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "asking the ResourceManager");
      }
    }

    @Override
    public void close() {
      RPC.stopProxy(real);
    }
  }
}
