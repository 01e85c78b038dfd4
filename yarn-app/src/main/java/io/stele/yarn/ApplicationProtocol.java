package io.stele.yarn;

import io.stele.wire.AccessKey;
import io.stele.wire.application.ApplicationProtos.ApplicationService;
import org.apache.hadoop.ipc.ProtocolInfo;

/** The ApplicationMaster's service as Hadoop RPC knows it. */
@ProtocolInfo(protocolName = "io.stele.yarn.ApplicationProtocol", protocolVersion = 1)
@AccessKey("security.stele.application.protocol.acl")
interface ApplicationProtocol extends ApplicationService.BlockingInterface {}
