package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockService;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Attempts.Purpose;
import io.stele.metadata.TabletAccess.Message;
import io.stele.metadata.TabletAccess.RowRequest;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockService;
import io.stele.sim.MemoryLockStore;
import io.stele.wire.data.DataProtos.PingProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The way to a row over two servers that are played by a data plane in memory. */
class TabletAccessTest {
  private static final TableId TABLE = new TableId("t1");
  private static final ServerId ONE = new ServerId("one", 1, 1);
  private static final ServerId TWO = new ServerId("two", 2, 2);
  private static final Duration LONG = Duration.ofSeconds(10);
  private static final Duration LEASE = Duration.ofMillis(200);

  private final MemoryLockService locks = new MemoryLockStore().connect();
  private final FakeServers plane = new FakeServers(SystemRuntime.INSTANCE, Duration.ZERO);
  private final TabletAccess access = new TabletAccess(SystemRuntime.INSTANCE, locks, plane, LEASE);

  /** One that has found nothing yet, and whose reads of the lock service are among the calls. */
  private final TabletAccess client =
      new TabletAccess(SystemRuntime.INSTANCE, counted(locks, plane.calls), plane, LEASE);

  private final TabletRecords records =
      new TabletRecords(SystemRuntime.INSTANCE, locks, access, LONG);

  private static final TabletId USER = new TabletId(TABLE, "00000000000000bb");
  private TabletRecord root;
  private TabletRecord metadata;
  private TabletRecord user;

  @BeforeEach
  void aClusterOfOneTableAllAtOneServer() throws IOException {
    plane.rows.put(TableId.ROOT, new MemoryRows());
    plane.rows.put(TableId.METADATA, new MemoryRows());
    records.createRoot();
    root = records.loaded(records.assign(records.reader().readRoot().orElseThrow(), ONE));
    plane.serve(ONE, TabletId.ROOT);
    Bootstrap.finish(records);
    metadata =
        records.loaded(records.assign(records.reader().readAll(TableId.METADATA).get(0), ONE));
    plane.serve(ONE, metadata.id());
    Mutation row = RecordCodec.putAll(TabletRecord.created(USER, RowRange.ALL), "made").build();
    plane.rows.get(TableId.METADATA).apply(row);
    user = records.loaded(records.assign(records.reader().readAll(TABLE).get(0), ONE));
    plane.serve(ONE, USER);
    plane.pinged = USER;
    plane.calls.clear();
  }

  /** The lock service, whose reads are written down among the {@code calls}. */
  private static LockService counted(LockService locks, List<String> calls) {
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              synchronized (calls) {
                calls.add("LOCKS " + method.getName() + " " + arguments[0]);
              }
              try {
                return method.invoke(locks, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void aRowIsFoundInThreeRoundTripsAndRememberedThen() throws IOException {
    ping(Effect.READ, LONG);
    assertThat(plane.calls)
        .containsExactly("LOCKS read root", "READ one:1", "READ one:1", "PING one:1");
    plane.calls.clear();
    locks.disconnect(); // Nothing on the way of a request needs the lock service.
    ping(Effect.READ, LONG);
    assertThat(plane.calls).containsExactly("PING one:1");
  }

  @Test
  void theReadThatFindsATabletFindsTheNextFifteenAsWell() throws IOException {
    TableId wide = new TableId("t2");
    for (int i = 0; i < 20; i++) {
      TabletId id = new TabletId(wide, String.format("%016x", i));
      RowRange rows =
          new RowRange(i == 0 ? Bytes.EMPTY : wideRow(i), i == 19 ? Bytes.EMPTY : wideRow(i + 1));
      plane
          .rows
          .get(TableId.METADATA)
          .apply(RecordCodec.putAll(TabletRecord.created(id, rows), "made").build());
    }
    for (TabletRecord record : records.reader().readAll(wide)) {
      records.loaded(records.assign(record, ONE));
    }
    locate(wide, 2);
    plane.calls.clear();
    for (int i = 2; i < 18; i++) {
      assertThat(locate(wide, i)).isEqualTo(String.format("%016x", i));
      assertThat(plane.calls).isEmpty();
    }
    locate(wide, 18);
    assertThat(plane.calls).containsExactly("READ one:1");
  }

  /** Neither damage nor what a later version requires of those who change the record. */
  @Test
  void whatIsWrongWithARecordDoesNotHideTheTabletsBeforeIt() throws IOException {
    TableId table = new TableId("t3");
    for (int i = 0; i < 3; i++) {
      TabletId id = new TabletId(table, String.format("%016x", i));
      RowRange rows =
          new RowRange(i == 0 ? Bytes.EMPTY : wideRow(i), i == 2 ? Bytes.EMPTY : wideRow(i + 1));
      Mutation created = RecordCodec.putAll(TabletRecord.created(id, rows), "made").build();
      plane.rows.get(TableId.METADATA).apply(created);
    }
    List<TabletRecord> all = new ArrayList<>();
    for (TabletRecord record : records.reader().readAll(table)) {
      all.add(records.loaded(records.assign(record, ONE)));
    }
    plane
        .rows
        .get(TableId.METADATA)
        .apply(
            Mutation.of(all.get(0).row())
                .put(RecordCodec.ASSIGNMENT, Bytes.of("requires"), Bytes.of("more")));
    plane
        .rows
        .get(TableId.METADATA)
        .apply(
            Mutation.of(all.get(1).row())
                .put(RecordCodec.EXTENT, Bytes.EMPTY, Bytes.of("damaged")));
    assertThat(locate(table, 0)).isEqualTo(all.get(0).id().name());
    assertThat(locate(table, 2)).isEqualTo(all.get(2).id().name());
    assertThatThrownBy(() -> records.reader().readAll(table)).hasMessageContaining("requires more");
  }

  private static Bytes wideRow(int tablet) {
    return Bytes.of(String.format("%02d", tablet));
  }

  /** The name of the tablet of that number. */
  private String locate(TableId table, int tablet) throws IOException {
    Deadline deadline = Deadline.after(SystemRuntime.INSTANCE, LONG);
    return await(client.locator().locate(table, wideRow(tablet), deadline)).tablet().name();
  }

  @Test
  void aTabletThatMovedIsFoundAgain() throws IOException {
    ping(Effect.READ, LONG);
    user = records.loaded(records.assign(records.unloaded(user, "unloaded"), TWO));
    plane.stop(ONE, USER);
    plane.serve(TWO, USER);
    plane.calls.clear();
    ping(Effect.CHANGE, LONG);
    assertThat(plane.calls).containsExactly("PING one:1", "READ one:1", "PING two:2");
  }

  /** As one does that is cut off from the lock service: it cannot know that it lost the tablet. */
  @Test
  void aServerThatOnlySaysTryAgainIsLeftOnceAnotherHasTheTablet() throws IOException {
    for (Effect effect : List.of(Effect.READ, Effect.CHANGE_WITH_ID)) {
      ServerId lost = user.assignment().server().orElseThrow();
      ping(effect, LONG);
      StatusProto says = effect == Effect.READ ? StatusProto.RETRY_LATER : StatusProto.INTERNAL;
      plane.afterwards =
          request ->
              plane
                      .calls
                      .get(plane.calls.size() - 1)
                      .equals("PING " + lost.host() + ":" + lost.port())
                  ? Optional.of(says)
                  : Optional.empty();
      ServerId next = lost.equals(ONE) ? TWO : ONE;
      user = records.loaded(records.assign(records.unloaded(user, "fenced"), next));
      plane.serve(next, USER);
      ping(effect, LONG);
      assertThat(plane.calls).last().isEqualTo("PING " + next.host() + ":" + next.port());
    }
  }

  /** An answer that comes soon costs no look at METADATA. */
  @Test
  void aServerThatSaysTryAgainForAMomentIsNotDoubted() throws IOException {
    ping(Effect.READ, LONG);
    plane.calls.clear();
    int[] busy = new int[1];
    plane.afterwards =
        request -> busy[0]++ < 5 ? Optional.of(StatusProto.RETRY_LATER) : Optional.empty();
    ping(Effect.READ, LONG);
    assertThat(plane.calls).hasSize(6).containsOnly("PING one:1");
  }

  @Test
  void aRowOfWhichAllThreeLevelsAreStaleIsFoundInSixRoundTrips() throws IOException {
    ping(Effect.READ, LONG);
    user = records.loaded(records.assign(records.unloaded(user, "unloaded"), TWO));
    metadata = records.loaded(records.assign(records.unloaded(metadata, "unloaded"), TWO));
    root = records.loaded(records.assign(records.unloaded(root, "unloaded"), TWO));
    for (TabletId tablet : List.of(USER, metadata.id(), TabletId.ROOT)) {
      plane.stop(ONE, tablet);
      plane.serve(TWO, tablet);
    }
    plane.calls.clear();
    ping(Effect.READ, LONG);
    assertThat(plane.calls)
        .containsExactly(
            "PING one:1",
            "READ one:1",
            "READ one:1",
            "LOCKS read root",
            "READ two:2",
            "READ two:2",
            "PING two:2");
  }

  @Test
  void eventsAreThoseOfAllTabletsOrOfOneOfWhichOnlyTheTableIsRead() throws IOException {
    TabletEvents events = new TabletEvents(SystemRuntime.INSTANCE, locks, access, LONG);
    assertThat(events.ofAll())
        .extracting(TabletEvents.Event::tablet)
        .contains(TabletId.ROOT, metadata.id(), USER);
    TabletId other = new TabletId(new TableId("t2"), "00000000000000cc");
    plane
        .rows
        .get(TableId.METADATA)
        .apply(
            RecordCodec.putAll(TabletRecord.created(other, RowRange.ALL), "made")
                .put(RecordCodec.EVENTS, Bytes.EMPTY, Bytes.of("damaged"))
                .build());
    assertThatThrownBy(events::ofAll).isInstanceOf(CorruptionException.class);
    for (TabletId tablet : List.of(TabletId.ROOT, metadata.id(), USER)) {
      assertThat(events.of(tablet))
          .isNotEmpty()
          .allSatisfy(event -> assertThat(event.tablet()).isEqualTo(tablet));
    }
  }

  @Test
  void aTabletThatNobodyServesIsWaitedForAndThenNothingWasDone() {
    assertThatThrownBy(
            () -> {
              records.unloaded(user, "unloaded");
              plane.stop(ONE, USER);
              ping(Effect.CHANGE, Duration.ofMillis(200));
            })
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
  }

  @Test
  void aTableWithoutTabletsIsNotFound() {
    assertThatThrownBy(
            () ->
                await(
                    access
                        .locator()
                        .locate(
                            new TableId("t9"),
                            Bytes.of("r"),
                            Deadline.after(SystemRuntime.INSTANCE, LONG))))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.NOT_FOUND));
  }

  @Test
  void anAnswerThatIsLostMakesTheOutcomeUnknownOnlyForWhatMayNotBeRepeated() throws IOException {
    boolean[] lost = new boolean[1];
    plane.afterwards =
        request -> {
          boolean first = !lost[0] && request.hasPing();
          lost[0] |= first;
          return first ? Optional.of(StatusProto.INTERNAL) : Optional.empty();
        };
    ping(Effect.CHANGE_WITH_ID, LONG);
    lost[0] = false;
    assertThatThrownBy(() -> ping(Effect.CHANGE, LONG))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
  }

  @Test
  void afterALostAnswerAMistakeOfOursLeavesTheOutcomeUnknown() {
    plane.afterwards =
        request -> request.hasPing() ? Optional.of(StatusProto.INTERNAL) : Optional.empty();
    boolean[] sent = new boolean[1];
    RowRequest request =
        new RowRequest(
            TABLE,
            Bytes.of("row"),
            Purpose.of(Effect.CHANGE_WITH_ID, () -> "a ping"),
            location -> {
              if (sent[0]) {
                throw new IllegalStateException("planted");
              }
              sent[0] = true;
              return ping(Effect.CHANGE_WITH_ID).call().to(location);
            });
    assertThatThrownBy(
            () -> await(client.send(request, Deadline.after(SystemRuntime.INSTANCE, LONG))))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN))
        .hasRootCauseMessage("planted");
  }

  @Test
  void aChangeWhoseAnswersAreLostIsAppliedOnceAndReportedAsApplied() throws IOException {
    int[] lost = new int[1];
    plane.afterwards =
        request ->
            request.hasCheckAndMutate() && lost[0]++ < 3
                ? Optional.of(StatusProto.INTERNAL)
                : Optional.empty();
    TabletRecord released = records.unloaded(user, "unloaded");
    assertThat(lost[0]).isEqualTo(4);
    assertThat(records.reader().readAll(TABLE)).containsExactly(released);
  }

  @Test
  void aChangeOfMetadataThatNobodyAnswersIsSentAgainSoonAndThenOncePerLease() throws IOException {
    int[] lost = new int[1];
    plane.silent = request -> request.hasCheckAndMutate() && lost[0]++ < 4;
    TabletRecord released = records.unloaded(user, "unloaded");
    assertThat(plane.timeouts)
        .containsExactly(LEASE.dividedBy(4), LEASE.dividedBy(2), LEASE, LEASE);
    assertThat(records.reader().readAll(TABLE)).containsExactly(released);
  }

  @Test
  void aReadOfMetadataThatNobodyAnswersIsSentAgainSoon() throws IOException {
    int[] lost = new int[1];
    plane.silent = request -> request.hasRead() && lost[0]++ == 0;
    assertThat(records.reader().readAll(TABLE)).containsExactly(user);
    assertThat(plane.timeouts).containsExactly(LEASE.dividedBy(4));
  }

  /** Another METADATA tablet may be away for hours, so that all changes look that old. */
  @Test
  void aChangeThatATabletMayHaveForgottenIsMadeUnderAnotherName() throws IOException {
    List<OperationId> refused = new ArrayList<>();
    plane.forgotten =
        id -> {
          boolean old = refused.isEmpty() || refused.get(0).clientHigh() == id.clientHigh();
          if (old) {
            refused.add(id);
          }
          return old;
        };
    TabletRecord released = records.unloaded(user, "unloaded");
    assertThat(records.reader().readAll(TABLE)).containsExactly(released);
    records.assign(released, TWO); // This one has the other name from the beginning.
    assertThat(refused).hasSize(1);
  }

  @Test
  void aChangeThatMayHaveBeenMadeBeforeATabletForgotItIsNotMadeAgain() {
    List<OperationId> seen = new ArrayList<>();
    plane.forgotten =
        id -> {
          seen.add(id);
          return seen.size() > 1;
        };
    plane.afterwards =
        request ->
            request.hasCheckAndMutate() && seen.size() == 1
                ? Optional.of(StatusProto.INTERNAL)
                : Optional.empty();
    assertThatThrownBy(() -> records.unloaded(user, "unloaded"))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
    assertThat(seen).hasSize(2);
    assertThat(seen.get(1)).isEqualTo(seen.get(0));
  }

  @Test
  void aChangeThatIsInDoubtWhenTimeEndsIsReportedSo() {
    plane.afterwards =
        request ->
            request.hasCheckAndMutate() ? Optional.of(StatusProto.INTERNAL) : Optional.empty();
    TabletRecords hasty =
        new TabletRecords(SystemRuntime.INSTANCE, locks, access, Duration.ofMillis(200));
    assertThatThrownBy(() -> hasty.release(user, "unloaded"))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN));
  }

  @Test
  void whatIsOvertakenIsGivenUpWithoutWaitingAndNotTriedAgain() {
    CompletableFuture<Void> overtaken = new CompletableFuture<>();
    TabletRecords loop =
        new TabletRecords(
            SystemRuntime.INSTANCE, locks, access, LONG, guard(overtaken, row -> true));
    plane.afterwards =
        request -> {
          overtaken.complete(null);
          return Optional.of(StatusProto.RETRY_LATER);
        };
    assertThatThrownBy(() -> loop.reader().readAll(TABLE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("given up");
    assertThatThrownBy(() -> loop.unloaded(user, "unloaded"))
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.OUTCOME_UNKNOWN))
        .hasMessageContaining("may or may not have been applied")
        .hasMessageContaining("given up");
  }

  @Test
  void whatIsNotServedIsNotAskedForOnce() throws IOException {
    Bytes away = user.row();
    TabletRecords loop =
        new TabletRecords(
            SystemRuntime.INSTANCE,
            locks,
            access,
            LONG,
            guard(new CompletableFuture<>(), row -> row.compareTo(away) < 0));
    RowRange before = new RowRange(MetadataKeys.table(TABLE).start(), away);
    assertThat(loop.reader().readUndamaged(before, Integer.MAX_VALUE, damage -> {})).isEmpty();
    plane.afterwards =
        request -> {
          throw new AssertionError("it was sent: " + request);
        };
    assertThatThrownBy(() -> loop.reader().read(TABLE, away))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not served now: nothing was read");
    assertThatThrownBy(() -> loop.unloaded(user, "unloaded"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not served now: it was not changed");
  }

  private static RequestGuard guard(CompletableFuture<Void> overtaken, Predicate<Bytes> served) {
    return new RequestGuard() {
      @Override
      public CompletableFuture<Void> overtaken() {
        return overtaken;
      }

      @Override
      public boolean isServed(Bytes row) {
        return served.test(row);
      }
    };
  }

  private void ping(Effect effect, Duration timeout) throws IOException {
    await(client.send(ping(effect), Deadline.after(SystemRuntime.INSTANCE, timeout)));
  }

  private static RowRequest ping(Effect effect) {
    return new RowRequest(
        TABLE,
        Bytes.of("row"),
        Purpose.of(effect, () -> "a ping"),
        location -> Message.of(RequestProto.newBuilder().setPing(PingProto.getDefaultInstance())));
  }

  private static <T> T await(CompletableFuture<T> future) throws IOException {
    return Futures.await(SystemRuntime.INSTANCE, future, "a test");
  }
}
