package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.cli.demo.DemoCluster;
import io.stele.config.JobKeys;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConfCommandTest {
  private static Ran conf(String... words) {
    List<String> all = new java.util.ArrayList<>(List.of("conf"));
    all.addAll(List.of(words));
    return Ran.of(all);
  }

  @Test
  void aTextThatIsInNoKeyIsNotFound() {
    assertThat(conf("nosuchkey"))
        .isEqualTo(
            new Ran(
                ExitCode.NOT_FOUND.number(),
                "",
                "stele: no configuration key contains \"nosuchkey\"; `stele conf` shows all keys\n"));
    assertThat(conf("stele.zookeeper.qorum").err())
        .contains("did you mean stele.zookeeper.quorum?");
    assertThat(conf("yarn").out()).contains("stele.yarn.");
  }

  @Test
  void keysOfJobsAreListedWithTheirMeaningAndValue() {
    String all = conf().out();
    assertThat(JobKeys.names()).allSatisfy(name -> assertThat(all).contains("\n" + name + " ="));
    assertThat(conf("mapreduce").out()).doesNotContain("\nstele.").contains("mapreduce.stele.");
    assertThat(conf("input.mode").out())
        .startsWith("mapreduce.stele.input.mode = served\n    Who reads for mappers: ");
    assertThat(conf("input.mode", "-D", "mapreduce.stele.input.mode=direct").out())
        .startsWith("mapreduce.stele.input.mode = direct   (default: served)\n");
    assertThat(conf("table.filter").out()).startsWith("mapreduce.stele.input.table.filter =\n");
  }

  @Test
  void aWrongKeyOrValueOfAnOptionIsNotLookedForInAFile() {
    assertThat(conf("-D", "stele.zookeeper.qorum=x"))
        .satisfies(ran -> assertThat(ran.exit()).isEqualTo(ExitCode.REFUSED.number()))
        .satisfies(ran -> assertThat(ran.err()).doesNotContain("stele-site.xml"))
        .satisfies(
            ran ->
                assertThat(ran.err())
                    .contains("given by -D", "did you mean stele.zookeeper.quorum?"));
    assertThat(conf("-D", "stele.tabletserver.lease=soon").err())
        .contains("given by -D")
        .doesNotContain("stele-site.xml");
    Map<String, String> ofDemo = Map.of("stele.tabletserver.lease", "soon");
    assertThatThrownBy(() -> DemoCluster.settings(ofDemo)).hasMessageContaining("given by -D");
  }
}
