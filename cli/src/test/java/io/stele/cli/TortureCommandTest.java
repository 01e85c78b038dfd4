package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.ReadModifyWrite;
import io.stele.model.TableSchema;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.sim.check.Call;
import io.stele.sim.check.Violation;
import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import io.stele.sim.workload.WorkloadContext;
import io.stele.sim.workload.Workloads;
import io.stele.wire.NetworkTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** {@code stele torture} on a cluster in this JVM: real threads and sockets. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class TortureCommandTest {
  private final Site site = Site.inMemory();
  private MiniStele mini;

  @BeforeAll
  void start() throws IOException {
    mini = MiniStele.start(MiniStele.quick(new Configuration(false)), site, 2, 1);
  }

  @AfterAll
  void stop() {
    mini.close();
  }

  private Ran run(BiFunction<Pace, String, List<Workload>> workloads, String... options) {
    CommandLine.IFactory factory =
        new CommandLine.IFactory() {
          @Override
          public <K> K create(Class<K> wanted) throws Exception {
            return wanted == TortureCommand.class
                ? wanted.cast(new TortureCommand(conf -> connect(conf), workloads))
                : CommandLine.defaultFactory().create(wanted);
          }
        };
    List<String> words = new ArrayList<>(List.of("torture"));
    words.addAll(List.of(options));
    return Ran.of(Main.commandLine(factory), words);
  }

  private Stele connect(Configuration conf) throws IOException {
    NetworkTransport transport = new NetworkTransport(conf, SystemRuntime.INSTANCE, "localhost");
    return Stele.over(conf, SystemRuntime.INSTANCE, site.connect(), transport);
  }

  private List<String> tables() throws IOException {
    return mini.client().admin().listTables().stream().map(TableSchema::name).toList();
  }

  @Test
  void aHealthyClusterPassesAndKeepsNoTable() throws IOException {
    List<String> before = tables();
    Ran ran =
        run(Workloads::all, "--seconds", "2", "--clients", "2", "--pause-max", "5", "--seed", "1");
    assertThat(ran.exit()).as(ran.out() + ran.err()).isZero();
    assertThat(ran.out())
        .contains("seed 1", "counters", "registers", "lists", "atomic", "scans")
        .contains("Nothing wrong was found.");
    assertThat(tables()).isEqualTo(before);
  }

  @Test
  void anyClusterIsTorturedByWhatOperatorsDo() throws IOException {
    List<String> before = tables();
    String[] options = {
      "--seconds", "4", "--clients", "1", "--fault-every", "1", "--faults", "--conf", "../conf"
    };
    List<String> some = new ArrayList<>(List.of(options));
    for (String fault : List.of("drain", "move", "merge", "split", "balance")) {
      some.addAll(List.of("--fault", fault));
    }
    Ran ran = run(Workloads::all, some.toArray(String[]::new));
    assertThat(ran.exit()).as(ran.out() + ran.err()).isZero();
    assertThat(ran.out())
        .contains("Nothing wrong was found.", "all tablets were served ")
        .containsPattern("FAULT +TOOK +LONGEST GAP +P99");
    assertThat(tables()).isEqualTo(before);

    Ran killing = run(Workloads::all, "--faults", "--fault", "kill-am", "--conf", "../conf");
    assertThat(killing.exit()).isEqualTo(4);
    assertThat(killing.err()).contains("kill-am is only for", "--start", "rolling-restart");
  }

  @Test
  void aWrongAnswerIsShownAndHasAnExitCodeOfItsOwn() throws IOException {
    List<String> before = tables();
    Ran ran =
        run(
            (pace, prefix) -> List.of(new CountedTwice(counters(pace, prefix))),
            "--seconds",
            "1",
            "--clients",
            "1",
            "--pause-max",
            "5");
    assertThat(ran.exit()).isEqualTo(ExitCode.PROBLEMS.number());
    assertThat(ran.out()).contains("WRONG:\n  counters, counters: ").doesNotContain("Nothing");
    assertThat(ran.err()).isEmpty();
    assertThat(tables()).isEqualTo(before);
  }

  @Test
  void whatIsKeptIsTouchedByNoOtherRun() throws IOException {
    String[] options = {
      "--seconds", "1", "--clients", "1", "--seed", "77", "--workload", "counters", "--keep"
    };
    assertThat(run(Workloads::all, options).exit()).isZero();
    assertThat(tables()).contains("torture-77-counters");

    String[] dropping = List.of(options).subList(0, options.length - 1).toArray(String[]::new);
    Ran again = run(Workloads::all, dropping);
    assertThat(again.exit()).isEqualTo(4);
    assertThat(again.err()).contains("torture-77-counters", "--seed", "stele table drop");
    assertThat(tables()).contains("torture-77-counters");
    mini.client().admin().dropTable("torture-77-counters");
  }

  @Test
  void whatMakesNoSenseIsRefused() {
    assertThat(run(Workloads::all, "--workload", "count"))
        .isEqualTo(
            new Ran(
                2,
                "",
                "stele: unknown workload count; choose from counters, registers, lists, atomic, scans\n"
                    + "Try: stele torture --help\n"));
    assertThat(run(Workloads::all, "--clients", "0").exit()).isEqualTo(2);
    assertThat(run(Workloads::all, "--seconds", "0").exit()).isEqualTo(2);
    assertThat(run(Workloads::all, "--pause-max", "-1").exit()).isEqualTo(2);
    assertThat(run(Workloads::all, "--seed", "-1").exit()).isEqualTo(2);
    assertThat(run(Workloads::all, "--fault", "quota"))
        .isEqualTo(new Ran(2, "", "stele: --fault needs --faults\nTry: stele torture --help\n"));
  }

  @Test
  void aClusterThatIsStartedForThisIsNotMixedUpWithOthers() {
    assertThat(run(Workloads::all, "--start", "--faults", "no-hadoop").err())
        .startsWith("stele: give the directory to --start, not to --faults\n");
    assertThat(run(Workloads::all, "--start", "--keep").exit()).isEqualTo(2);
    Ran ran = run(Workloads::all, "--faults", "no-hadoop");
    assertThat(ran.exit()).isEqualTo(4);
    assertThat(ran.err()).contains("no embedded Hadoop runs in ", "--start", "stele demo --keep");
  }

  private static Workload counters(Pace pace, String prefix) {
    return Workloads.all(pace, prefix).stream()
        .filter(workload -> workload.name().equals("counters"))
        .findFirst()
        .orElseThrow();
  }

  /** Counters on a cluster that applies an increment of each client twice. */
  private record CountedTwice(Workload counters) implements Workload {
    @Override
    public String name() {
      return counters.name();
    }

    @Override
    public String table() {
      return counters.table();
    }

    @Override
    public String claim() {
      return counters.claim();
    }

    @Override
    public void setUp(Stele client) throws IOException {
      counters.setUp(client);
    }

    @Override
    public void run(WorkloadContext context, int client) throws InterruptedException {
      counters.run(context, client);
      try {
        Table table = context.client().table(table());
        table.readModifyWrite(
            ReadModifyWrite.increment(Bytes.of("countera"), "f", Bytes.of("count"), 1));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void readBack(WorkloadContext context) throws InterruptedException {
      counters.readBack(context);
    }

    @Override
    public List<Violation> check(List<Call> calls) {
      return counters.check(calls);
    }
  }
}
