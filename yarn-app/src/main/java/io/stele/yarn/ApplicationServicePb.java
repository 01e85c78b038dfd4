package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationService;
import org.apache.hadoop.ipc.ProtocolInfo;

/** The ApplicationMaster's service as Hadoop RPC knows it. */
@ProtocolInfo(protocolName = "io.stele.ApplicationService", protocolVersion = 1)
interface ApplicationServicePb extends ApplicationService.BlockingInterface {}
