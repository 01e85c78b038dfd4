/**
 * The wire: messages and transport of both planes. Internal.
 *
 * <p>The data plane carries reads and writes of rows between clients and tablet servers over Netty:
 * {@link io.stele.wire.DataServer} answers what {@link io.stele.wire.DataClient} calls; headers are
 * the protobuf messages of {@code data.proto}, bodies are cell blocks. The control plane carries
 * everything rare over Hadoop RPC: {@link io.stele.wire.ControlServer} and {@link
 * io.stele.wire.ControlClient} with the services of {@code control.proto}.
 *
 * <p>The codecs between the model and the data plane's messages are here as well; nothing outside
 * this package touches a socket.
 */
package io.stele.wire;
