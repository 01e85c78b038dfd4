package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationService;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;

/** Both ends of the ApplicationMaster's service on Hadoop RPC. */
final class ApplicationEndpoint {
  private static final int HANDLERS = 2;
  private static final int CALL_TIMEOUT_MILLIS = 5_000;

  private ApplicationEndpoint() {}

  /** Serves {@code service} on any free port; not yet started. */
  static RPC.Server serve(Configuration conf, ApplicationService.BlockingInterface service)
      throws IOException {
    RPC.setProtocolEngine(conf, ApplicationServicePb.class, ProtobufRpcEngine2.class);
    return new RPC.Builder(conf)
        .setProtocol(ApplicationServicePb.class)
        .setInstance(ApplicationService.newReflectiveBlockingService(service))
        .setBindAddress("0.0.0.0")
        .setPort(0)
        .setNumHandlers(HANDLERS)
        .setVerbose(false)
        .build();
  }

  /** A proxy to the service at {@code address}; to be stopped with {@link RPC#stopProxy}. */
  static ApplicationServicePb connect(Configuration conf, InetSocketAddress address)
      throws IOException {
    Configuration impatient = new Configuration(conf);
    impatient.setInt("ipc.client.connect.max.retries", 1);
    impatient.setInt("ipc.client.connect.max.retries.on.timeouts", 1);
    impatient.setInt("ipc.client.connect.retry.interval", 200);
    impatient.setInt("ipc.client.connect.timeout", CALL_TIMEOUT_MILLIS);
    impatient.setInt("ipc.client.rpc-timeout.ms", CALL_TIMEOUT_MILLIS);
    RPC.setProtocolEngine(impatient, ApplicationServicePb.class, ProtobufRpcEngine2.class);
    return RPC.getProxy(
        ApplicationServicePb.class,
        RPC.getProtocolVersion(ApplicationServicePb.class),
        address,
        impatient);
  }
}
