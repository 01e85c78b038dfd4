package io.stele.cli;

import io.stele.wire.Address;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * How a connection to a SOCKS proxy begins: version 5 without authentication, as in RFC 1928. The
 * client says where it wants to be connected to, and is told whether it is. After that come bytes
 * of either side, of which this reads none. Each connection is for one thread.
 */
final class SocksRequest {
  private static final int VERSION = 5;
  private static final int NO_AUTHENTICATION = 0;
  private static final int CONNECT = 1;
  private static final int IPV4 = 1;
  private static final int NAME = 3;
  private static final int IPV6 = 4;
  private static final int IPV4_BYTES = 4;
  private static final int IPV6_BYTES = 16;
  private static final int CONNECTED = 0;
  private static final int REFUSED = 5;

  private SocksRequest() {}

  /**
   * Reads where {@code client} wants to be connected to.
   *
   * @throws ProtocolException if it asks for anything else
   * @throws IOException if it ends before
   */
  static Address read(Socket client) throws IOException {
    DataInputStream in = new DataInputStream(client.getInputStream());
    expect("version", VERSION, in.readUnsignedByte());
    in.skipNBytes(in.readUnsignedByte()); // The kinds of authentication that it offers.
    client.getOutputStream().write(new byte[] {VERSION, NO_AUTHENTICATION});
    expect("version", VERSION, in.readUnsignedByte());
    expect("command", CONNECT, in.readUnsignedByte());
    in.skipNBytes(1); // Reserved.
    String host = host(in);
    return new Address(host, in.readUnsignedShort());
  }

  private static String host(DataInputStream in) throws IOException {
    int kind = in.readUnsignedByte();
    return switch (kind) {
      case IPV4 -> ip(in, IPV4_BYTES);
      case IPV6 -> ip(in, IPV6_BYTES);
      case NAME -> new String(bytes(in, in.readUnsignedByte()), StandardCharsets.US_ASCII);
      default -> throw new ProtocolException("SOCKS has no addresses of kind " + kind);
    };
  }

  private static String ip(DataInputStream in, int length) throws IOException {
    return InetAddress.getByAddress(bytes(in, length)).getHostAddress();
  }

  private static byte[] bytes(DataInputStream in, int length) throws IOException {
    byte[] bytes = new byte[length];
    in.readFully(bytes);
    return bytes;
  }

  private static void expect(String what, int known, int is) throws ProtocolException {
    if (is != known) {
      throw new ProtocolException("only SOCKS " + what + " " + known + " is known, not " + is);
    }
  }

  /** Tells {@code client} whether it is connected to where it wanted. */
  static void answer(Socket client, boolean connected) throws IOException {
    byte[] answer = new byte[4 + IPV4_BYTES + Short.BYTES]; // No client needs our own address.
    answer[0] = VERSION;
    answer[1] = (byte) (connected ? CONNECTED : REFUSED);
    answer[3] = IPV4;
    client.getOutputStream().write(answer);
  }
}
