package io.stele.wire;

import io.stele.wire.control.ControlProtos.TabletServerService;
import org.apache.hadoop.ipc.ProtocolInfo;

/** The administration of a tablet server as Hadoop RPC knows it. */
@ProtocolInfo(protocolName = "io.stele.wire.TabletServerProtocol", protocolVersion = 1)
@AccessKey("security.stele.tabletserver.protocol.acl")
public interface TabletServerProtocol extends TabletServerService.BlockingInterface {}
