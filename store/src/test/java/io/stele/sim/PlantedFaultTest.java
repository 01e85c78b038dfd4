package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests the simulator: each mistake planted into the product is found. Some that show soon are
 * planted in each build; {@code -Dstele.planted=all} plants all of them, any other text those with
 * it in their names.
 */
class PlantedFaultTest {
  private static final int SEEDS_MAX = 200;
  private static final String PLANTED = System.getProperty("stele.planted", "");
  private static final int AT_ONCE = 4;

  static List<PlantedFault> faults() {
    return switch (PLANTED) {
      case "" -> PlantedFaults.thatShowSoon();
      case "all" -> PlantedFaults.all();
      default ->
          PlantedFaults.all().stream().filter(fault -> fault.name().contains(PLANTED)).toList();
    };
  }

  @ParameterizedTest
  @MethodSource("faults")
  @SuppressWarnings("try") // Planted while the block runs.
  void isFound(PlantedFault fault) throws Exception {
    Optional<HistoryRun.Report> found = Optional.empty();
    try (AutoCloseable planted = fault.plant()) {
      for (int seed = 0; seed < SEEDS_MAX && found.isEmpty(); seed += AT_ONCE) {
        found =
            Histories.run(seed, AT_ONCE, fault).stream()
                .filter(report -> !report.isGood())
                .findFirst();
      }
    }
    System.out.println("Planted: " + fault + ": " + found.map(PlantedFaultTest::text).orElse("-"));
    assertThat(found).as("%s, within %s seeds", fault, SEEDS_MAX).isPresent();
  }

  private static String text(HistoryRun.Report report) {
    String why =
        report
            .failure()
            .map(Throwable::toString)
            .orElseGet(() -> report.violations().get(0).toString());
    return "seed " + report.plan().seed() + ", " + why.lines().findFirst().orElse("");
  }
}
