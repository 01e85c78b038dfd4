package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.Assignment;
import io.stele.metadata.TabletRecord;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.wire.control.ControlProtos.MoveTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletResponseProto;
import io.stele.wire.control.ControlProtos.TabletsChangedRequestProto;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Moves of tablets, by a master's loop and its requests. */
class MovesTest {
  private static final ServerId A = new ServerId("a", 1, 1);
  private static final ServerId B = new ServerId("b", 1, 1);
  private static final ServerId C = new ServerId("c", 1, 1);

  private final MasterFixture master = new MasterFixture();

  private static MoveTabletRequestProto request(TabletRecord tablet, Optional<ServerId> to) {
    MoveTabletRequestProto.Builder request =
        MoveTabletRequestProto.newBuilder().setTablet(TabletServers.ref(tablet));
    to.ifPresent(server -> request.setServerId(server.toString()));
    return request.build();
  }

  /** A cluster of A, where all is, and then B and C. */
  private TabletRecord started() throws Exception {
    master.bootstrap();
    master.start(A);
    TableId table = master.table("t");
    master.stepUntilIdle();
    master.start(B);
    master.start(C);
    master.rereadUntilIdle();
    return master.only(table);
  }

  private MoveTabletResponseProto move(MoveTabletRequestProto request) throws Exception {
    MoveTabletResponseProto answer = master.requests.moveTablet(null, request);
    for (int i = 0; i < 20 && !answer.getDone(); i++) {
      master.loop.step();
      master.sleep(Duration.ofMillis(50));
      answer = master.requests.moveTablet(null, request);
    }
    return answer;
  }

  @Test
  void aTabletGoesToTheServerItIsMeantForAndStaysThere() throws Exception {
    master.run(
        () -> {
          TabletRecord before = started();
          MoveTabletResponseProto answer = move(request(before, Optional.of(C)));
          assertThat(answer.getDone()).isTrue();
          assertThat(answer.getServerId()).isEqualTo(C.toString());
          master.stepUntilIdle();
          TabletRecord after = master.only(before.id().table());
          assertThat(after.assignment().isTo(C)).isTrue();
          assertThat(after.assignment().epoch()).isEqualTo(before.assignment().epoch() + 1);
          assertThat(master.parts.moves().count()).isZero();
        });
  }

  @Test
  void withoutATargetItGoesAnywhereElse() throws Exception {
    master.run(
        () -> {
          TabletRecord before = started();
          assertThat(before.assignment().isTo(A)).isTrue();
          assertThat(move(request(before, Optional.empty())).getServerId())
              .isIn(B.toString(), C.toString());
        });
  }

  @Test
  void everyTabletCanMoveTheRootTabletToo() throws Exception {
    master.run(
        () -> {
          started();
          TabletRecord root = master.records.reader().readRoot().orElseThrow();
          TabletRecord metadata = master.tablets(TableId.METADATA).get(0);
          assertThat(move(request(metadata, Optional.of(B))).getDone()).isTrue();
          assertThat(move(request(root, Optional.of(C))).getDone()).isTrue();
          assertThat(master.records.reader().readRoot().orElseThrow().assignment().isTo(C))
              .isTrue();
        });
  }

  @Test
  void aTargetThatTakesNoTabletsIsRefusedAndOneThatDiesIsForgotten() throws Exception {
    master.run(
        () -> {
          TabletRecord before = started();
          ServerId nobody = new ServerId("nobody", 1, 1);
          assertThatThrownBy(
                  () -> master.requests.moveTablet(null, request(before, Optional.of(nobody))))
              .isInstanceOf(SteleException.class)
              .hasMessageContaining("does not take tablets");
          master.parts.moves().ask(before, Optional.of(nobody)); // It was there a moment ago.
          master.stepUntilIdle();
          assertThat(master.only(before.id().table()).state()).isEqualTo(before.state());
          assertThat(master.parts.moves().count()).isZero();
        });
  }

  @Test
  void aMoveThatAnotherMasterBeganEndsAnywhere() throws Exception {
    master.run(
        () -> {
          TabletRecord before = started();
          master.records.unloaded(before, "unloaded"); // For a master that has died.
          MoveTabletResponseProto answer = move(request(before, Optional.of(C)));
          assertThat(answer.getDone()).isTrue();
          assertThat(master.isServed(before.id().table())).isTrue();
        });
  }

  @Test
  void aWishThatCannotBeGrantedEnds() throws Exception {
    master.run(
        () -> {
          TabletRecord before = started();
          master.plane.stuck.add(before.id());
          master.parts.moves().ask(before, Optional.of(B));
          master.stepFor(Duration.ofSeconds(31), Duration.ofSeconds(1));
          assertThat(master.parts.moves().count()).isZero();
          assertThat(master.only(before.id().table()).assignment().isTo(A)).isTrue();
        });
  }

  @Test
  void whatAServerSaysHasChangedIsReadAtOnce() throws Exception {
    master.run(
        () -> {
          TabletRecord before = started();
          master.records.unloaded(before, "unloaded");
          master.loop.step();
          assertThat(master.only(before.id().table()).assignment().server()).isEmpty();
          master.requests.tabletsChanged(
              null,
              TabletsChangedRequestProto.newBuilder()
                  .setServerId(A.toString())
                  .addTablets(TabletServers.ref(before))
                  .build());
          master.loop.step();
          assertThat(master.only(before.id().table()).assignment().server()).isPresent();
        });
  }

  @Test
  void aTabletThatTheMasterDoesNotKnowIsLookedForBeforeItIsMissed() throws Exception {
    master.run(
        () -> {
          started();
          TableId table = master.table("u");
          TabletRecord unknown = master.only(table);
          MoveTabletResponseProto answer =
              master.requests.moveTablet(null, request(unknown, Optional.of(B)));
          assertThat(answer.getDone()).isFalse();
          assertThat(answer.getNotBegun()).as("nothing was begun").isTrue();
          assertThat(answer.getWaitsFor()).contains("does not know");
          master.stepUntilIdle();
          assertThat(move(request(master.only(table), Optional.of(B))).getDone()).isTrue();
        });
  }

  @Test
  void aTabletThatTheMasterHasYetToHearOfAsLoadedIsAskedForAgain() throws Exception {
    master.run(
        () -> {
          started();
          TableId table = master.table("u");
          master.plane.slow.add(master.only(table).id());
          master.stepUntilIdle();
          TabletRecord assigned = master.only(table);
          assertThat(assigned.assignment().state()).isEqualTo(Assignment.State.ASSIGNED);
          ServerId to =
              List.of(A, B, C).stream()
                  .filter(server -> !assigned.assignment().isTo(server))
                  .findFirst()
                  .orElseThrow();
          master.records.loaded(assigned); // As clients see at once.
          MoveTabletResponseProto answer =
              master.requests.moveTablet(null, request(assigned, Optional.of(to)));
          assertThat(answer.getNotBegun()).as("nothing was begun").isTrue();
          assertThat(master.parts.moves().count()).isZero();
          master.stepUntilIdle();
          master.plane.slow.clear();
          assertThat(move(request(assigned, Optional.of(to))).getServerId())
              .isEqualTo(to.toString());
        });
  }
}
