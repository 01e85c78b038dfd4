package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.wire.control.ControlProtos.ServerStatusProto;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class ClusterStatusAnswerTest {
  /** A server with so many tablets, each of 100 bytes in memory and 1000 in files. */
  private static ServerStatusProto.Builder server(int tablets) {
    return ServerStatusProto.newBuilder()
        .setServerId("a_1_1")
        .setControlAddress("a:2")
        .setDataAddress("a:1")
        .setDraining(false)
        .setTablets(tablets)
        .setSstableBytes(1000L * tablets);
  }

  private static Optional<ServerStatusProto> report(int tablets) {
    return Optional.of(
        server(tablets)
            .setSstableBytes(1001L * tablets)
            .setMemtableBytes(100L * tablets)
            .setLocalPercent(100)
            .build());
  }

  @Test
  void aServerThatHasGivenItsTabletsAwayHasNoBytesWhateverItReportedBefore() {
    ServerStatusProto drained =
        ClusterStatusAnswer.joined(server(0).setDraining(true).build(), report(3));
    assertThat(drained.getDraining()).isTrue();
    assertThat(drained.getTablets()).isZero();
    assertThat(drained.getMemtableBytes()).isZero();
    assertThat(drained.getSstableBytes()).isZero();
    assertThat(drained.hasLocalPercent()).isFalse();
  }

  @Test
  void theReportTellsTheBytesOfTheTabletsThatTheServerStillHas() {
    ServerStatusProto same = ClusterStatusAnswer.joined(server(3).build(), report(3));
    assertThat(same.getSstableBytes()).isEqualTo(3003);
    assertThat(same.getMemtableBytes()).isEqualTo(300);
    assertThat(same.getLocalPercent()).isEqualTo(100);

    ServerStatusProto fewer = ClusterStatusAnswer.joined(server(2).build(), report(3));
    assertThat(fewer.getTablets()).isEqualTo(2);
    assertThat(fewer.getSstableBytes()).isEqualTo(2000);
  }
}
