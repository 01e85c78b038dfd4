package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.MemoryRecords;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.LoadTabletsRequestProto;
import io.stele.wire.control.ControlProtos.RefreshSchemaRequestProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.Test;

class TabletServersTest {
  private final Simulation simulation = new Simulation(1, 1_000_000);
  private final SimulatedProcess process = simulation.process("master");
  private final SlowPlane plane = new SlowPlane(process);
  private final TabletServers servers = new TabletServers(process, plane);

  @Test
  void aServerHasOneCallInProgressAndTabletsGoTogether() throws Exception {
    simulation.run(
        () -> {
          List<TabletRecord> tablets = tablets(10);
          for (int i = 0; i < 3; i++) {
            tablets.forEach(tablet -> servers.load(info("host"), tablet));
          }
          servers.refreshSchema(info("host"), "users", () -> {});
          servers.report(info("host"), report -> {});
          simulation.outside().sleep(Duration.ofSeconds(60));
          assertThat(plane.mostAtOnce).isEqualTo(1);
          assertThat(plane.tablets).as("each once").hasSize(10).doesNotHaveDuplicates();
          assertThat(plane.calls).as("loads, schema, report").hasSizeLessThanOrEqualTo(4);
          int before = plane.calls.size();
          servers.load(info("host"), tablets.get(0));
          simulation.outside().sleep(Duration.ofSeconds(60));
          assertThat(plane.calls).hasSize(before + 1);
        });
  }

  @Test
  void aThousandServersAreAskedByAFewThreads() throws Exception {
    simulation.run(
        () -> {
          TabletRecord tablet = tablets(1).get(0);
          for (int i = 0; i < 1000; i++) {
            servers.load(info("host" + i), tablet);
          }
          simulation.outside().sleep(Duration.ofMinutes(10));
          assertThat(plane.calls).hasSize(1000);
          assertThat(plane.mostAtOnce).isEqualTo(64);
        });
  }

  @Test
  void aServerThatDoesNotAnswerKeepsNobodyElseWaiting() throws Exception {
    simulation.run(
        () -> {
          List<TabletRecord> tablets = tablets(101);
          tablets.subList(0, 100).forEach(tablet -> servers.load(info("slow"), tablet));
          servers.load(info("host"), tablets.get(100));
          simulation.outside().sleep(Duration.ofSeconds(2));
          assertThat(plane.answered).containsExactly("host");
        });
  }

  @Test
  void aFailedRequestMayBeMadeAgain() throws Exception {
    simulation.run(
        () -> {
          TabletRecord tablet = tablets(1).get(0);
          servers.load(info("gone"), tablet);
          simulation.outside().sleep(Duration.ofSeconds(5));
          servers.load(info("gone"), tablet);
          simulation.outside().sleep(Duration.ofSeconds(5));
          assertThat(plane.calls).hasSize(2);
        });
  }

  @Test
  void aServerThatRefusesARequestGetsTheNextAtOnceAndOneThatDoesNotAnswerRestsFirst()
      throws Exception {
    simulation.run(
        () -> {
          TabletRecord tablet = tablets(1).get(0);
          for (String host : List.of("starting", "gone")) {
            plane.calls.clear();
            servers.report(info(host), report -> {});
            simulation.outside().sleep(Duration.ofMillis(10));
            servers.load(info(host), tablet);
            simulation.outside().sleep(Duration.ofMillis(1500));
            assertThat(plane.calls).as(host).hasSize(host.equals("starting") ? 2 : 1);
            simulation.outside().sleep(Duration.ofSeconds(5));
            assertThat(plane.calls).as(host).hasSize(2);
          }
        });
  }

  @Test
  void aServerThatNeverAnswersIsCalledMoreAndMoreSeldom() throws Exception {
    simulation.run(
        () -> {
          for (int i = 0; i < 1000; i++) { // 100 s, in which a call and its rest took two.
            servers.report(info("gone"), report -> {});
            simulation.outside().sleep(Duration.ofMillis(100));
          }
          assertThat(plane.calls.size()).isBetween(18, 23);
        });
  }

  @Test
  void aServerWhoseAnswerToAReportIsLostIsAskedToLoadTabletsNext() throws Exception {
    simulation.run(
        () -> {
          servers.report(info("unheard"), report -> {});
          simulation.outside().sleep(Duration.ofMillis(10));
          servers.report(info("unheard"), report -> {});
          simulation.outside().sleep(Duration.ofSeconds(1));
          servers.load(info("unheard"), tablets(1).get(0));
          servers.report(info("unheard"), report -> {});
          simulation.outside().sleep(Duration.ofMillis(2500)); // A rest and a call.
          assertThat(plane.calls).hasSize(2);
          assertThat(plane.tablets).hasSize(1);
        });
  }

  @Test
  void requestsThatWaitForAServerThatIsGoneAreDropped() throws Exception {
    simulation.run(
        () -> {
          List<TabletRecord> tablets = tablets(10);
          tablets.forEach(tablet -> servers.load(info("slow"), tablet));
          simulation.outside().sleep(Duration.ofMillis(1));
          servers.retain(Set.of());
          simulation.outside().sleep(Duration.ofSeconds(300));
          assertThat(plane.calls).hasSize(1);
          servers.load(info("host"), tablets.get(9));
          simulation.outside().sleep(Duration.ofSeconds(5));
          assertThat(plane.answered).endsWith("host");
        });
  }

  private List<TabletRecord> tablets(int count) throws IOException {
    var records = new MemoryRecords(process, new MemoryLockStore().connect(work -> {})).records();
    List<Bytes> splitRows = new ArrayList<>();
    for (int i = 1; i < count; i++) {
      splitRows.add(Bytes.of("%04d".formatted(i)));
    }
    records.createTable(new TableId("t1"), splitRows);
    return records.reader().readAll(new TableId("t1"));
  }

  static ServerInfo info(String host) {
    Address address = new Address(host, 1);
    return new ServerInfo(address, address, Optional.empty(), Optional.empty());
  }

  /**
   * Calls that take a second; those to {@code slow} take ten, {@code gone} does not answer, {@code
   * starting} refuses, and the answers of {@code unheard} are lost.
   */
  private static final class SlowPlane extends UnimplementedTabletServer implements ControlPlane {
    private final SimulatedProcess process;
    private final List<Address> calls = new ArrayList<>();
    private final List<String> answered = new ArrayList<>();
    private final List<String> tablets = new ArrayList<>();
    private int now;
    private int mostAtOnce;

    SlowPlane(SimulatedProcess process) {
      this.process = process;
    }

    @Override
    public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
        throws IOException {
      calls.add(server);
      mostAtOnce = Math.max(mostAtOnce, ++now);
      try {
        process.sleep(Duration.ofSeconds(server.host().equals("slow") ? 10 : 1));
      } catch (InterruptedException e) {
        throw new IOException(e);
      } finally {
        now--;
      }
      if (server.host().equals("gone")) {
        throw new IOException("no answer");
      }
      if (server.host().equals("starting")) {
        throw SteleException.retryLater("this server is starting");
      }
      R answer;
      try {
        answer = call.on(protocol.cast(this));
      } catch (ServiceException e) {
        throw new IOException(e);
      }
      if (server.host().equals("unheard")) {
        throw new IOException("the answer is lost");
      }
      answered.add(server.host());
      return answer;
    }

    @Override
    public void retain(Set<Address> servers) {}

    @Override
    public EmptyProto loadTablets(RpcController c, LoadTabletsRequestProto request) {
      request.getTabletsList().forEach(tablet -> tablets.add(tablet.getTablet()));
      return EmptyProto.getDefaultInstance();
    }

    @Override
    public EmptyProto refreshSchema(RpcController c, RefreshSchemaRequestProto request) {
      return EmptyProto.getDefaultInstance();
    }

    @Override
    public ServerReportResponseProto report(RpcController c, EmptyProto request) {
      return ServerReportResponseProto.getDefaultInstance();
    }
  }
}
