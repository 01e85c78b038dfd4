package io.stele.cli;

import io.stele.client.ClusterStatus;
import io.stele.model.Amount;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.stream.Collectors;

/** Describes recoveries of dead servers as text. */
final class RecoveryText {
  private RecoveryText() {}

  /** When a server was lost, when its tablets were served again, and what the time went into. */
  static String of(ClusterStatus.Recovery recovery) {
    String stages =
        recovery.stages().stream()
            .map(stage -> stage.what() + " " + seconds(stage.took()))
            .collect(Collectors.joining(", "));
    return "server "
        + recovery.server()
        + " was lost at "
        + recovery.loss().seen().truncatedTo(ChronoUnit.SECONDS)
        + recovery
            .loss()
            .detection()
            .map(most -> ", at most " + seconds(most) + " after its end")
            .orElse("")
        + "; its "
        + Amount.of(recovery.tablets(), "tablet")
        + " "
        + (recovery.over()
            ? (recovery.tablets() == 1 ? "was" : "were")
                + " served again after "
                + seconds(recovery.took())
            : (recovery.tablets() == 1 ? "is" : "are") + " not all served again")
        + recovery.first().map(first -> ", the first after " + seconds(first)).orElse("")
        + (stages.isEmpty() ? "" : " (" + stages + ")");
  }

  private static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0);
  }
}
