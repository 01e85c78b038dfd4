package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.FlexRequestProto;
import io.stele.wire.application.ApplicationProtos.FlexResponseProto;
import io.stele.wire.application.ApplicationProtos.StatusRequestProto;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import io.stele.wire.application.ApplicationProtos.StopRequestProto;
import io.stele.wire.application.ApplicationProtos.StopResponseProto;
import org.apache.hadoop.thirdparty.protobuf.RpcController;

/** Serves operators' requests to an ApplicationMaster, on RPC threads. */
final class OperatorService implements ApplicationProtocol {
  private final ApplicationMaster master;

  OperatorService(ApplicationMaster master) {
    this.master = master;
  }

  @Override
  public StatusResponseProto status(RpcController controller, StatusRequestProto request) {
    return master.status();
  }

  @Override
  public FlexResponseProto flex(RpcController controller, FlexRequestProto request) {
    master.flex(ComponentKind.parse(request.getKind()), request.getCount());
    return FlexResponseProto.getDefaultInstance();
  }

  @Override
  public StopResponseProto stop(RpcController controller, StopRequestProto request) {
    master.stop();
    return StopResponseProto.getDefaultInstance();
  }
}
