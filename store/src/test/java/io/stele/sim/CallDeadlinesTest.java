package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.stele.client.Outcome;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.ColumnFamily;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A call has one time limit, for the schema, the location and all attempts together. */
@ExtendWith(Cores.One.class)
class CallDeadlinesTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final Duration SCHEMA_READ = Duration.ofSeconds(6);

  /** A write that was sent may end so much later. */
  private static final Duration LATE_MAX = Duration.ofMillis(600);

  /** A call that names family {@code g}, which its table does not know of yet. */
  @FunctionalInterface
  private interface Call {
    void on(Table table) throws Exception;
  }

  private static Map<String, Call> calls() {
    Bytes row = Bytes.of("r");
    Mutation put = Mutation.of(row).put("g", "q", "v");
    RowQuery query = RowQuery.ALL.family("g");
    Map<String, Call> calls = new LinkedHashMap<>();
    calls.put("mutate", table -> table.mutate(put));
    calls.put(
        "mutateAll",
        table -> {
          for (Outcome outcome : table.mutateAll(List.of(put, put))) {
            assertThat(outcome.isApplied()).isFalse();
            throw outcome.failure().orElseThrow();
          }
        });
    calls.put(
        "checkAndMutate",
        table -> table.checkAndMutate(CheckAndMutate.ifNone(new Filter.StripValue(), put)));
    calls.put(
        "readModifyWrite",
        table -> table.readModifyWrite(ReadModifyWrite.increment(row, "g", Bytes.of("q"), 1)));
    calls.put("readRow", table -> table.readRow(row, query));
    calls.put("readRows", table -> table.readRows(List.of(row), query));
    return calls;
  }

  @Test
  void whatTheSchemaTookIsNoLongerLeftForTheRest() throws Exception {
    run(
        SCHEMA_READ,
        (took, failure) ->
            assertThat(took).as(failure.toString()).isBetween(SCHEMA_READ, LIMIT.plus(LATE_MAX)));
  }

  /** An answer would come too late, and the outcome would be unknown. */
  @Test
  void whatHasNoTimeLeftForAnAnswerIsNotSent() throws Exception {
    run(
        LIMIT.minusMillis(2),
        (took, failure) ->
            assertThat(failure.code())
                .as(failure.toString())
                .isEqualTo(SteleException.Code.RETRY_LATER));
  }

  private static void run(Duration schemaRead, BiConsumer<Duration, SteleException> check)
      throws Exception {
    Configuration conf = ClusterFixture.settings(0, Duration.ofSeconds(30));
    conf.set(Keys.CLIENT_TIMEOUT.name(), LIMIT.toSeconds() + "s");
    ClusterFixture.run(
        0,
        1,
        conf,
        cluster -> {
          SimulatedProcess process = cluster.process();
          cluster.createTable("t", Duration.ofMinutes(1));
          AtomicBoolean slow = new AtomicBoolean();
          Stele client =
              Stele.over(
                  conf,
                  process,
                  slowly(cluster.cluster().ensemble().connect(process), process, slow, schemaRead),
                  cluster.cluster().network().transport(process, process.name()));
          Map<String, Table> tables = new LinkedHashMap<>();
          for (String call : calls().keySet()) {
            tables.put(call, client.table("t"));
          }
          cluster.client().admin().alterTable("t", t -> t.with(ColumnFamily.of("g")));
          assertThat(tables.get("readRow").readRow("r")).as("finds the tablet").isEmpty();

          Set<SimulatedProcess> members = Set.copyOf(cluster.members());
          cluster.cluster().network().cut((from, to) -> from == process && members.contains(to));
          slow.set(true);
          for (Map.Entry<String, Call> call : calls().entrySet()) {
            long start = process.nanoTime();
            Throwable failure = catchThrowable(() -> call.getValue().on(tables.get(call.getKey())));
            Duration took = Duration.ofNanos(process.nanoTime() - start);
            assertThat(failure)
                .as(call.getKey())
                .isInstanceOfSatisfying(SteleException.class, known -> check.accept(took, known));
          }
        });
  }

  /** The same service, which takes long to read schemas while {@code slow} is set. */
  private static LockService slowly(
      LockService locks, SimulatedProcess process, AtomicBoolean slow, Duration schemaRead) {
    return (LockService)
        Proxy.newProxyInstance(
            LockService.class.getClassLoader(),
            new Class<?>[] {LockService.class},
            (proxy, method, arguments) -> {
              if (slow.get() && String.valueOf(arguments[0]).startsWith(LockPaths.TABLES)) {
                process.sleep(schemaRead);
              }
              try {
                return method.invoke(locks, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
