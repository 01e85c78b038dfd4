package io.stele.wire;

import io.stele.model.SteleException;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.io.retry.RetryPolicies;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authorize.AuthorizationException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The caller's side of the control plane: one server, one protocol, over Hadoop RPC.
 *
 * <pre>{@code
 * try (var master = ControlClient.connect(conf, address, MasterProtocol.class, timeout)) {
 *   status = master.call(m -> m.clusterStatus(null, EmptyProto.getDefaultInstance()));
 * }
 * }</pre>
 *
 * <p>A call is sent once: a server that is not there fails it at once, and retrying, perhaps
 * elsewhere, is up to the caller. After an I/O error other than a refused connection the call may
 * have been executed.
 *
 * <p>Its connections are made as Hadoop's configuration says, for all protocols ({@code
 * hadoop.rpc.socket.factory.class.default}) or for one ({@code
 * hadoop.rpc.socket.factory.class.MasterProtocol}).
 *
 * <p>Safe for use by any number of threads; calls to one server share a connection.
 *
 * @param <P> the protocol, as {@link ControlServer} was given it
 */
public final class ControlClient<P> implements Closeable {
  private static final int CONNECT_TIMEOUT_MILLIS = 5000;

  private final Address server;
  private final Class<P> protocol;
  private final P proxy;

  private ControlClient(Address server, Class<P> protocol, P proxy) {
    this.server = server;
    this.protocol = protocol;
    this.proxy = proxy;
  }

  /**
   * A client of the server at {@code server}. Connects at the first call.
   *
   * @param conf Hadoop's; not changed
   * @param timeout the most a call may take, connecting not included
   * @throws UnknownHostException if the host has no address
   */
  public static <P> ControlClient<P> connect(
      Configuration conf, Address server, Class<P> protocol, Duration timeout) throws IOException {
    Configuration own = new Configuration(conf);
    RPC.setProtocolEngine(own, protocol, ProtobufRpcEngine2.class);
    own.setInt(
        CommonConfigurationKeysPublic.IPC_CLIENT_CONNECT_TIMEOUT_KEY, CONNECT_TIMEOUT_MILLIS);
    own.setInt(CommonConfigurationKeysPublic.IPC_CLIENT_CONNECT_MAX_RETRIES_KEY, 0);
    own.setInt(
        CommonConfigurationKeysPublic.IPC_CLIENT_CONNECT_MAX_RETRIES_ON_SOCKET_TIMEOUTS_KEY, 0);
    InetSocketAddress address = NetUtils.createSocketAddrForHost(server.host(), server.port());
    if (address.isUnresolved()) {
      throw new UnknownHostException(server.toString());
    }
    P proxy =
        RPC.getProtocolProxy(
                protocol,
                RPC.getProtocolVersion(protocol),
                address,
                UserGroupInformation.getCurrentUser(),
                own,
                new ControlSocketFactory(NetUtils.getSocketFactory(own, protocol)),
                Math.toIntExact(timeout.toMillis()),
                RetryPolicies.TRY_ONCE_THEN_FAIL)
            .getProxy();
    return new ControlClient<>(server, protocol, proxy);
  }

  /**
   * Makes a call.
   *
   * @throws SteleException as the service threw it; REFUSED if the caller may not call it
   * @throws RemoteException if the service failed in another way
   * @throws IOException if no answer came
   */
  public <R> R call(ControlPlane.Call<P, R> call) throws IOException {
    try {
      return call.on(proxy);
    } catch (ServiceException e) {
      Exception failure = e;
      if (e.getCause() instanceof RemoteException remote) {
        failure =
            AuthorizationException.class.getName().equals(remote.getClassName())
                ? denied(remote)
                : ControlException.received(remote);
      }
      if (failure instanceof SteleException known) {
        throw known;
      }
      if (e.getCause() instanceof IOException io) {
        throw io;
      }
      throw new IOException(e);
    }
  }

  private SteleException denied(RemoteException remote) {
    return new SteleException(
        SteleException.Code.REFUSED,
        server
            + " accepts calls only from users that "
            + ControlServer.accessKey(protocol)
            + " in its hadoop-policy.xml or stele-site.xml allows: "
            + remote.getLocalizedMessage(),
        remote);
  }

  /** Gives the connection up. */
  @Override
  public void close() {
    RPC.stopProxy(proxy);
  }
}
