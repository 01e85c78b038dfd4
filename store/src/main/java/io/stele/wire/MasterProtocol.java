package io.stele.wire;

import io.stele.wire.control.ControlProtos.MasterService;
import org.apache.hadoop.ipc.ProtocolInfo;

/** The master's services as Hadoop RPC knows them. */
@ProtocolInfo(protocolName = "io.stele.wire.MasterProtocol", protocolVersion = 1)
@AccessKey("security.stele.master.protocol.acl")
public interface MasterProtocol extends MasterService.BlockingInterface {}
