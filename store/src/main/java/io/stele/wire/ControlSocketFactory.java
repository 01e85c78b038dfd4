package io.stele.wire;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Objects;
import javax.net.SocketFactory;

/**
 * Makes sockets as another factory does, for the control plane alone. Hadoop RPC shares one client
 * among all that use equal factories, and with it the time limit for connecting of whoever came
 * first. So with the other factory HDFS would get ours, or we the one of HDFS.
 *
 * <p>Equal to those before an equal factory. Safe for use by any number of threads.
 */
final class ControlSocketFactory extends SocketFactory {
  private final SocketFactory real;

  ControlSocketFactory(SocketFactory real) {
    this.real = real;
  }

  @Override
  public Socket createSocket() throws IOException {
    return real.createSocket();
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    return real.createSocket(host, port);
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
      throws IOException {
    return real.createSocket(host, port, localHost, localPort);
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    return real.createSocket(host, port);
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort)
      throws IOException {
    return real.createSocket(host, port, localHost, localPort);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ControlSocketFactory factory && factory.real.equals(real);
  }

  @Override
  public int hashCode() {
    return Objects.hash(ControlSocketFactory.class, real);
  }
}
