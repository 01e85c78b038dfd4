package io.stele.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import io.stele.wire.control.ControlProtos.ChangeIdProto;
import io.stele.wire.control.ControlProtos.CreateTableRequestProto;
import io.stele.wire.control.ControlProtos.MasterService;
import io.stele.wire.control.ControlProtos.TableChangeProto;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.security.PrivilegedExceptionAction;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.junit.jupiter.api.Test;

/** The control plane on a cluster with {@code hadoop.security.authorization}. */
final class ControlAuthorizationTest {
  private static final String KEY = "security.stele.master.protocol.acl";

  private final Configuration conf = new Configuration();

  @Test
  void everybodyMayCallWhereNothingElseIsSaid() throws Exception {
    try (ControlServer server = start()) {
      assertThat(create(server, "anybody")).isEqualTo("t7");
    }
  }

  @Test
  void onlyThoseNamedMayCallAndOthersAreToldWhy() throws Exception {
    conf.set(KEY, "alice");
    try (ControlServer server = start()) {
      assertThat(create(server, "alice")).isEqualTo("t7");
      assertThatThrownBy(() -> create(server, "bob"))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining("bob")
          .hasMessageContaining(KEY)
          .hasMessageContaining("127.0.0.1:" + server.port());
    }
  }

  private ControlServer start() throws IOException {
    conf.setBoolean(CommonConfigurationKeysPublic.HADOOP_SECURITY_AUTHORIZATION, true);
    MasterService.BlockingInterface master =
        (MasterService.BlockingInterface)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {MasterService.BlockingInterface.class},
                (proxy, method, arguments) ->
                    TableChangeProto.newBuilder().setTableId("t7").setDone(true).build());
    return ControlServer.start(
        conf,
        new Address("127.0.0.1", 0),
        2,
        MasterProtocol.class,
        MasterService.newReflectiveBlockingService(master));
  }

  private String create(ControlServer server, String user) throws Exception {
    CreateTableRequestProto request =
        CreateTableRequestProto.newBuilder()
            .setSchema(ByteString.copyFromUtf8("x"))
            .setChange(ChangeIdProto.newBuilder().setId("change").setSeen(0))
            .build();
    PrivilegedExceptionAction<String> action =
        () -> {
          try (ControlClient<MasterProtocol> client =
              ControlClient.connect(
                  conf,
                  new Address("127.0.0.1", server.port()),
                  MasterProtocol.class,
                  Duration.ofSeconds(10))) {
            return client.call(m -> m.createTable(null, request)).getTableId();
          }
        };
    return UserGroupInformation.createRemoteUser(user).doAs(action);
  }
}
