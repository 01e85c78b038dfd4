package io.stele.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.examples.analytics.Analytics;
import io.stele.examples.webtable.WebtableRank;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ToolRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What programs say to ordinary mistakes. */
@Isolated // It takes the output of the process.
class ProgramTest {
  private static final List<String> NAMES =
      List.of(
          "analytics",
          "earth",
          "search",
          "webtable-load",
          "webtable-link",
          "webtable-rank",
          "webtable-report");

  private record Ran(int exit, String out, String err) {
    static Ran of(String words) throws Exception {
      return of(() -> Examples.run(List.of(words.split(" "))));
    }

    static Ran of(java.util.concurrent.Callable<Integer> program) throws Exception {
      PrintStream outBefore = System.out;
      PrintStream errBefore = System.err;
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      ByteArrayOutputStream err = new ByteArrayOutputStream();
      System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
      System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
      try {
        return new Ran(
            program.call(),
            out.toString(StandardCharsets.UTF_8),
            err.toString(StandardCharsets.UTF_8));
      } finally {
        System.setOut(outBefore);
        System.setErr(errBefore);
      }
    }
  }

  @Test
  void everyProgramHasHelpUnderItsName() throws Exception {
    Ran list = Ran.of("--help");
    assertThat(list.exit()).isZero();
    for (String name : NAMES) {
      assertThat(list.out()).contains("  " + name + " ");
      assertThat(Ran.of(name + " --help"))
          .satisfies(ran -> assertThat(ran.exit()).as(name).isZero())
          .satisfies(ran -> assertThat(ran.out()).startsWith(name + " "));
    }
    assertThat(Ran.of("nosuch"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(2))
        .satisfies(ran -> assertThat(ran.err()).startsWith("there is no program nosuch\n"));
  }

  @Test
  void argumentsAreReadBeforeAClusterIsAsked() throws Exception {
    for (String words :
        List.of(
            "analytics run abc",
            "analytics generate 1 abc",
            "earth run abc",
            "earth show 1 2",
            "search run abc",
            "search find u000000",
            "webtable-rank webtable ranks abc",
            "webtable-load webtable",
            "webtable-link",
            "webtable-report webtable")) {
      Ran ran = Ran.of(words);
      assertThat(ran.exit()).as(words).isEqualTo(2);
      String name = words.split(" ")[0];
      assertThat(ran.err()).startsWith(name + ": ").contains("\n\n" + name + " ");
    }
  }

  @Test
  void whatFailsSaysWhyInOneLine() throws Exception {
    Configuration conf = new Configuration();
    conf.set("stele.nosuch", "1"); // A cluster that cannot be had, without a wait.
    for (Program program : List.of(new Analytics(), new WebtableRank())) {
      String[] words = program instanceof WebtableRank ? args("t r 1") : args("run");
      Ran ran = Ran.of(() -> ToolRunner.run(conf, program, words));
      assertThat(ran.exit()).isEqualTo(1);
      assertThat(ran.err()).contains("stele.nosuch").doesNotContain("\tat ");
    }
  }

  private static String[] args(String words) {
    return words.split(" ");
  }
}
