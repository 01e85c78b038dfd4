package io.stele.wire;

import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.ipc.Server;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authorize.PolicyProvider;
import org.apache.hadoop.security.authorize.Service;
import org.apache.hadoop.thirdparty.protobuf.BlockingService;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.MethodDescriptor;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.ServiceDescriptor;
import org.apache.hadoop.thirdparty.protobuf.Message;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * The server's side of the control plane: one protocol over Hadoop RPC.
 *
 * <p>A {@link SteleException} that the service throws reaches the caller as the same exception; a
 * {@link CorruptionException} as one of code CORRUPTION; anything else as Hadoop's {@link
 * org.apache.hadoop.ipc.RemoteException}.
 */
public final class ControlServer implements Closeable {
  private final RPC.Server server;

  private ControlServer(RPC.Server server) {
    this.server = server;
  }

  /**
   * Starts listening.
   *
   * @param conf Hadoop's; not changed
   * @param address where; port 0: any free one
   * @param handlers threads that run the service, each one call at a time
   * @param protocol an interface with {@link org.apache.hadoop.ipc.ProtocolInfo}, whose protocol
   *     has the interface's name, and with {@link AccessKey}; it extends the service's generated
   *     BlockingInterface, such as {@link MasterProtocol}
   * @param service what the generated {@code newReflectiveBlockingService} made of the
   *     implementation
   * @throws IOException if the address cannot be listened on
   */
  public static ControlServer start(
      Configuration conf, Address address, int handlers, Class<?> protocol, BlockingService service)
      throws IOException {
    accessKey(protocol); // Checked also where nobody is refused.
    Configuration own = new Configuration(conf);
    RPC.setProtocolEngine(own, protocol, ProtobufRpcEngine2.class);
    RPC.Server server =
        new RPC.Builder(own)
            .setProtocol(protocol)
            .setInstance(new Translating(service))
            .setBindAddress(address.host())
            .setPort(address.port())
            .setNumHandlers(handlers)
            .setVerbose(false)
            .build();
    if (own.getBoolean(CommonConfigurationKeysPublic.HADOOP_SECURITY_AUTHORIZATION, false)) {
      server.refreshServiceAcl(own, policy(protocol));
    }
    server.addTerseExceptions(ControlException.class);
    server.start();
    return new ControlServer(server);
  }

  private static PolicyProvider policy(Class<?> protocol) {
    Service service = new Service(accessKey(protocol), protocol);
    return new PolicyProvider() {
      @Override
      public Service[] getServices() {
        return new Service[] {service};
      }
    };
  }

  /** The key that says who may call {@code protocol}. */
  static String accessKey(Class<?> protocol) {
    AccessKey key = protocol.getAnnotation(AccessKey.class);
    if (key == null || !RPC.getProtocolName(protocol).equals(protocol.getName())) {
      throw new IllegalArgumentException(
          protocol + " needs an AccessKey, and a protocol name equal to its own name");
    }
    return key.value();
  }

  /**
   * The short name of the user who makes the call that this thread serves; empty if the call came
   * from this process.
   */
  public static Optional<String> caller() {
    return Optional.ofNullable(Server.getRemoteUser()).map(UserGroupInformation::getShortUserName);
  }

  /** The port it listens on. */
  public int port() {
    return server.getListenerAddress().getPort();
  }

  /** Stops listening; calls being served lose their connection. */
  @Override
  public void close() {
    server.stop();
  }

  /** A service whose failures can cross the wire. */
  private record Translating(BlockingService service) implements BlockingService {
    @Override
    public Message callBlockingMethod(
        MethodDescriptor method, RpcController controller, Message request)
        throws ServiceException {
      try {
        return service.callBlockingMethod(method, controller, request);
      } catch (SteleException e) {
        throw new ServiceException(new ControlException(e.code(), StatusCodec.message(e)));
      } catch (ServiceException e) {
        if (e.getCause() instanceof SteleException known) {
          throw new ServiceException(
              new ControlException(known.code(), StatusCodec.message(known)));
        }
        if (e.getCause() instanceof CorruptionException damage) {
          throw new ServiceException(
              new ControlException(SteleException.Code.CORRUPTION, damage.getMessage()));
        }
        throw e;
      }
    }

    @Override
    public ServiceDescriptor getDescriptorForType() {
      return service.getDescriptorForType();
    }

    @Override
    public Message getRequestPrototype(MethodDescriptor method) {
      return service.getRequestPrototype(method);
    }

    @Override
    public Message getResponsePrototype(MethodDescriptor method) {
      return service.getResponsePrototype(method);
    }
  }
}
