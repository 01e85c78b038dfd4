package io.stele.client;

import static io.stele.SteleErrors.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.lock.UnreachableException;
import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import io.stele.wire.control.ControlProtos.CompactTabletsRequestProto;
import io.stele.wire.control.ControlProtos.CompactTabletsResponseProto;
import io.stele.wire.control.ControlProtos.TabletCompactionProto;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.RpcNoSuchMethodException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TableCompactionTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static Configuration conf() {
    return MiniStele.quick(new Configuration(false));
  }

  /** A table of three tablets, each with a value in its memtable. */
  private static void create(MiniStele cluster, String table) throws IOException {
    Admin admin = cluster.client().admin();
    admin.createTable(TableSchema.of(table, "f"), List.of(Bytes.of("h"), Bytes.of("p")));
    write(cluster, table);
  }

  private static void write(MiniStele cluster, String table) throws IOException {
    for (String row : List.of("a", "c", "h", "m", "p", "z")) {
      cluster.client().table(table).mutate(Mutation.of(row).put("f", "q", "value"));
    }
  }

  private static Stream<Integer> files(MiniStele cluster, String table) throws IOException {
    return cluster.client().table(table).tablets().stream().map(TabletInfo::sstables);
  }

  @Test
  void allTabletsAreCompactedWhicheverServersHaveThem() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 2, 1)) {
      create(cluster, "web");
      Admin admin = cluster.client().admin();
      admin.compactTable("web");
      assertThat(files(cluster, "web")).containsExactly(1, 1, 1);
      write(cluster, "web");
      admin.compactTable("web");
      assertThat(files(cluster, "web")).containsExactly(1, 1, 1);
      admin.createTable(TableSchema.of("empty", "f"));
      admin.compactTable("empty");
    }
  }

  @Test
  void oneThatHasBegunIsJoinedAndOthersGoOnBesideIt() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 1, 1)) {
      create(cluster, "one");
      create(cluster, "two");
      Admin admin = cluster.client().admin();
      ClusterChange first = admin.beginCompactTable("one");
      ClusterChange again = admin.beginCompactTable("one");
      ClusterChange other = admin.beginCompactTable("two");
      for (ClusterChange change : List.of(other, again, first)) {
        assertThat(change.await(PATIENCE).done()).as("%s", change).isTrue();
      }
      assertThat(files(cluster, "one")).containsExactly(1, 1, 1);
      assertThat(files(cluster, "two")).containsExactly(1, 1, 1);
    }
  }

  @Test
  void tabletsThatMoveOrAreSplitOrLostAreCompactedWhereTheyAreThen() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 3, 1)) {
      Admin admin = cluster.client().admin();
      admin.setBalanced(false);
      create(cluster, "web");
      ClusterChange compaction = admin.beginCompactTable("web");
      admin.moveTablet("web", Bytes.of("m"), Optional.empty());
      admin.splitTablet("web", Bytes.of("c"));
      ServerId last = cluster.client().table("web").tablets().get(3).server().orElseThrow();
      cluster.killServer(last);
      assertThat(compaction.await(PATIENCE).done()).isTrue();
      assertThat(files(cluster, "web")).allSatisfy(count -> assertThat(count).isEqualTo(1));
    }
  }

  @Test
  void aTableThatIsNotThereIsNotFound() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 1, 1)) {
      Admin admin = cluster.client().admin();
      assertFails(SteleException.Code.NOT_FOUND, () -> admin.compactTable("none"));
    }
  }

  /** What happens to requests to compact tablets, instead of their being sent. */
  private interface Fault {
    Optional<IOException> of(Address server) throws IOException;
  }

  /** What a client is told about its requests to compact tablets, instead of the answers. */
  private interface Answers {
    CompactTabletsResponseProto of(
        CompactTabletsRequestProto request, CompactTabletsResponseProto answer);

    /** The same answers as {@code change} makes of those about single tablets. */
    static Answers each(Consumer<TabletCompactionProto.Builder> change) {
      return (request, answer) -> {
        CompactTabletsResponseProto.Builder changed = answer.toBuilder();
        changed.getTabletsBuilderList().forEach(change);
        return changed.build();
      };
    }
  }

  /** A client whose requests to compact tablets may fail. */
  private static Stele client(MiniStele cluster, Configuration conf, Fault fault)
      throws IOException {
    return client(cluster.locks(), conf, fault, (request, answer) -> answer);
  }

  /** A client that is told something else about its requests to compact tablets. */
  private static Stele client(MiniStele cluster, Configuration conf, Answers answers)
      throws IOException {
    return client(cluster.locks(), conf, server -> Optional.empty(), answers);
  }

  private static Stele client(LockService locks, Configuration conf, Fault fault, Answers answers)
      throws IOException {
    Transport real = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
    ControlPlane plane =
        new ControlPlane() {
          @Override
          public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
              throws IOException {
            return real.controlPlane()
                .call(
                    server,
                    protocol,
                    timeout,
                    one -> call.on(protocol.cast(failing(server, protocol, one, fault, answers))));
          }

          @Override
          public void retain(Set<Address> servers) {
            real.controlPlane().retain(servers);
          }
        };
    Transport transport =
        (Transport)
            proxy(
                Transport.class,
                (method, arguments) ->
                    method.getName().equals("controlPlane")
                        ? plane
                        : method.invoke(real, arguments));
    return Stele.over(conf, SystemRuntime.INSTANCE, locks, transport);
  }

  private static Object failing(
      Address server, Class<?> protocol, Object real, Fault fault, Answers answers) {
    return proxy(
        protocol,
        (method, arguments) -> {
          if (!method.getName().equals("compactTablets")) {
            return method.invoke(real, arguments);
          }
          Optional<IOException> failure = fault.of(server);
          if (failure.isPresent()) {
            throw new ServiceException(failure.get());
          }
          return answers.of(
              (CompactTabletsRequestProto) arguments[1],
              (CompactTabletsResponseProto) method.invoke(real, arguments));
        });
  }

  private interface Calls {
    Object call(Method method, Object[] arguments) throws Exception;
  }

  private static Object proxy(Class<?> type, Calls calls) {
    return Proxy.newProxyInstance(
        type.getClassLoader(),
        new Class<?>[] {type},
        (self, method, arguments) -> {
          try {
            return calls.call(method, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  @Test
  void aServerThatDoesNotAnswerIsGivenUpOnceOthersHaveItsTablets() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 2, 1)) {
      create(cluster, "web");
      Map<Address, ServerId> servers = new HashMap<>();
      ServerInfo.all(cluster.locks()).forEach((id, info) -> servers.put(info.control(), id));
      AtomicReference<Address> hung = new AtomicReference<>();
      Fault fault =
          server -> {
            if (hung.compareAndSet(null, server)) {
              cluster.killServer(servers.get(server)); // Its lock goes, others get its tablets.
            }
            return server.equals(hung.get())
                ? Optional.of(new SocketTimeoutException("no answer"))
                : Optional.empty();
          };
      try (Stele client = client(cluster, conf(), fault)) {
        client.admin().compactTable("web");
      }
      assertThat(files(cluster, "web")).containsExactly(1, 1, 1);
    }
  }

  @Test
  void aServerOfAnEarlierVersionCompactsAllThatItHas() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 2, 1)) {
      create(cluster, "web");
      AtomicReference<Address> old = new AtomicReference<>();
      Fault fault =
          server -> {
            old.compareAndSet(null, server);
            return server.equals(old.get())
                ? Optional.of(
                    new RemoteException(RpcNoSuchMethodException.class.getName(), "unknown"))
                : Optional.empty();
          };
      try (Stele client = client(cluster, conf(), fault)) {
        client.admin().compactTable("web");
      }
      assertThat(files(cluster, "web")).containsExactly(1, 1, 1);
    }
  }

  @Test
  void aTabletThatIsTriedAgainIsNotStuck() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 1, 1)) {
      cluster.client().admin().createTable(TableSchema.of("web", "f"));
      Configuration hasty = conf();
      hasty.set(Keys.CLIENT_TIMEOUT.name(), "2s");
      AtomicInteger polls = new AtomicInteger();
      Answers answers =
          Answers.each(
              answer -> {
                int poll = polls.getAndIncrement();
                if (poll < 15) { // With the pauses between them more than the timeout.
                  answer.setDone(false).setTrouble("it was pinned").setRests(poll == 0);
                }
              });
      try (Stele client = client(cluster, hasty, answers)) {
        client.admin().compactTable("web");
      }
    }
  }

  @Test
  void aTabletThatFailsAgainAndAgainIsStuckThoughItIsTriedAgain() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 1, 1)) {
      cluster.client().admin().createTable(TableSchema.of("web", "f"));
      Configuration hasty = conf();
      hasty.set(Keys.CLIENT_TIMEOUT.name(), "1s");
      AtomicInteger polls = new AtomicInteger();
      Answers answers =
          Answers.each(
              answer -> {
                boolean rests = polls.getAndIncrement() % 4 != 0;
                answer.setDone(false).setTrouble("it was pinned").setRests(rests);
              });
      try (Stele client = client(cluster, hasty, answers)) {
        assertFails(SteleException.Code.RETRY_LATER, () -> client.admin().compactTable("web"))
            .hasMessageContaining("it was pinned");
      }
    }
  }

  @Test
  void aTableThatIsDroppedMeanwhileIsNotFound() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 1, 1)) {
      create(cluster, "web");
      Answers answers = Answers.each(answer -> answer.setDone(false));
      try (Stele client = client(cluster, conf(), answers)) {
        ClusterChange compaction = client.admin().beginCompactTable("web");
        cluster.client().admin().dropTable("web");
        for (int i = 0; i < 2; i++) { // Once it is known it stays known.
          assertFails(SteleException.Code.NOT_FOUND, () -> compaction.await(PATIENCE));
        }
      }
    }
  }

  @Test
  void theLockServiceMayBeAwayWhileServersCompact() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 1, 1)) {
      create(cluster, "web");
      AtomicBoolean away = new AtomicBoolean();
      LockService locks =
          (LockService)
              proxy(
                  LockService.class,
                  (method, arguments) -> {
                    if (away.get() && method.getName().equals("read")) {
                      throw new UnreachableException("the lock service is away");
                    }
                    return method.invoke(cluster.locks(), arguments);
                  });
      AtomicInteger requests = new AtomicInteger();
      Answers answers =
          (request, answer) -> {
            int number = requests.getAndIncrement();
            away.set(number >= 1 && number < 7);
            return number < 7 ? notDone(answer, number > 0) : answer;
          };
      Configuration hasty = conf();
      hasty.set(Keys.CLIENT_TIMEOUT.name(), "1s");
      try (Stele client = client(locks, hasty, server -> Optional.empty(), answers)) {
        ClusterChange compaction = client.admin().beginCompactTable("web");
        assertThat(compaction.await(PATIENCE).done()).isTrue();
      }
      assertThat(files(cluster, "web")).containsExactly(1, 1, 1);
    }
  }

  /** That no tablet is done, and perhaps that the first is elsewhere. */
  private static CompactTabletsResponseProto notDone(
      CompactTabletsResponseProto answer, boolean firstIsElsewhere) {
    CompactTabletsResponseProto.Builder changed = answer.toBuilder();
    for (TabletCompactionProto.Builder one : changed.getTabletsBuilderList()) {
      if (firstIsElsewhere && one.getStartRow().isEmpty()) {
        one.clear();
      } else {
        one.setDone(false);
      }
    }
    return changed.build();
  }

  @Test
  void aServerIsAskedAboutFewOfItsTabletsAtOnce() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 1, 1)) {
      List<Bytes> rows = IntStream.range(0, 249).mapToObj(i -> Bytes.of("row" + i)).toList();
      cluster.client().admin().createTable(TableSchema.of("web", "f"), rows);
      Queue<Integer> begun = new ConcurrentLinkedQueue<>();
      Queue<Integer> polled = new ConcurrentLinkedQueue<>();
      Answers notDoneAtFirst =
          (request, answer) -> {
            boolean polls = request.getTablets(0).hasCompaction();
            (polls ? polled : begun).add(request.getTabletsCount());
            CompactTabletsResponseProto.Builder changed = answer.toBuilder();
            if (polled.size() <= 3) {
              changed.getTabletsBuilderList().forEach(one -> one.setDone(false));
            }
            return changed.build();
          };
      try (Stele client = client(cluster, conf(), notDoneAtFirst)) {
        client.admin().compactTable("web");
      }
      assertThat(begun).as("it goes on without the client").containsExactly(250);
      assertThat(polled)
          .startsWith(100, 100, 100)
          .allSatisfy(count -> assertThat(count).isLessThanOrEqualTo(100));
    }
  }

  @Test
  void tabletsThatCannotBeCompactedAreNamedWithTheReason() throws Exception {
    try (MiniStele cluster = MiniStele.start(conf(), Site.inMemory(), 1, 1)) {
      create(cluster, "web");
      Configuration hasty = conf();
      hasty.set(Keys.CLIENT_TIMEOUT.name(), "1s");
      Fault fault = server -> Optional.of(new SocketTimeoutException("no answer"));
      try (Stele client = client(cluster, hasty, fault)) {
        assertFails(SteleException.Code.RETRY_LATER, () -> client.admin().compactTable("web"))
            .hasMessageContaining("3 of 3 tablets could not be compacted for 1000 ms")
            .hasMessageContaining(cluster.servers().get(0) + " failed")
            .hasMessageContaining("no answer");
      }
    }
  }
}
