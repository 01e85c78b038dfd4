package io.stele.wire;

import io.stele.wire.control.ControlProtos.MasterService;
import org.apache.hadoop.ipc.ProtocolInfo;

/** The master's services as Hadoop RPC knows them. */
@ProtocolInfo(protocolName = "io.stele.Master", protocolVersion = 1)
public interface MasterProtocol extends MasterService.BlockingInterface {}
