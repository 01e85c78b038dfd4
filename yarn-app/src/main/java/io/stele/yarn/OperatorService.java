package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.application.ApplicationProtos.DeployRequestProto;
import io.stele.wire.application.ApplicationProtos.DeployResponseProto;
import io.stele.wire.application.ApplicationProtos.FlexRequestProto;
import io.stele.wire.application.ApplicationProtos.FlexResponseProto;
import io.stele.wire.application.ApplicationProtos.StatusRequestProto;
import io.stele.wire.application.ApplicationProtos.StatusResponseProto;
import io.stele.wire.application.ApplicationProtos.StopRequestProto;
import io.stele.wire.application.ApplicationProtos.StopResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** Serves operators' requests to an ApplicationMaster, on RPC threads. */
final class OperatorService implements ApplicationProtocol {
  /** Less than clients wait for an answer. */
  private static final Duration SAVING_MAX = Duration.ofSeconds(4);

  private final ProcessRuntime runtime;
  private final ApplicationMaster master;

  OperatorService(ProcessRuntime runtime, ApplicationMaster master) {
    this.runtime = runtime;
    this.master = master;
  }

  @Override
  public StatusResponseProto status(RpcController controller, StatusRequestProto request) {
    return master.status();
  }

  @Override
  public FlexResponseProto flex(RpcController controller, FlexRequestProto request)
      throws ServiceException {
    awaitSaved(master.flex(ComponentKind.parse(request.getKind()), request.getCount()));
    return FlexResponseProto.getDefaultInstance();
  }

  @Override
  public StopResponseProto stop(RpcController controller, StopRequestProto request)
      throws ServiceException {
    Optional<Duration> timeout =
        request.hasTimeoutMillis()
            ? Optional.of(Duration.ofMillis(request.getTimeoutMillis()))
            : Optional.empty();
    awaitSaved(master.stop(timeout));
    return StopResponseProto.getDefaultInstance();
  }

  @Override
  public DeployResponseProto deploy(RpcController controller, DeployRequestProto request)
      throws ServiceException {
    awaitSaved(master.deploy(Deployment.of(request.getDeployment())));
    return DeployResponseProto.getDefaultInstance();
  }

  private void awaitSaved(CompletableFuture<Void> saved) throws ServiceException {
    try {
      if (!runtime.await(saved, SAVING_MAX)) {
        throw new SteleException(
            SteleException.Code.OUTCOME_UNKNOWN,
            "the ApplicationMaster cannot save it on HDFS now, and may forget it if it restarts:"
                + " ask again");
      }
      Futures.await(runtime, saved, "saving what was asked for");
    } catch (InterruptedException e) {
      throw new ServiceException(Futures.interrupted(e, "saving what was asked for"));
    } catch (IOException e) {
      throw new ServiceException(e);
    }
  }
}
