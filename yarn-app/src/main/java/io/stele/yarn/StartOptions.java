package io.stele.yarn;

import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How to start the application; immutable. All that is not here is configuration.
 *
 * @param jars our jars and what they need beside Hadoop's own
 * @param timeout how long to wait until every component runs and a master answers
 * @param mainClasses main classes to run instead of Stele's; for tests of the application alone
 */
public record StartOptions(List<Path> jars, Duration timeout, Map<String, String> mainClasses) {
  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  public StartOptions {
    jars = List.copyOf(jars);
    mainClasses = Map.copyOf(mainClasses);
  }

  /** Runs these jars. */
  public static StartOptions of(List<Path> jars) {
    return new StartOptions(jars, TIMEOUT, Map.of());
  }

  /** Runs the jars that lie in {@code directory}. */
  public static StartOptions ofLibDirectory(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      throw SteleException.refused(
          "there is no directory " + directory + " with Stele's jars: build Stele first");
    }
    try (Stream<Path> files = Files.list(directory)) {
      return of(files.filter(file -> file.toString().endsWith(".jar")).sorted().toList());
    }
  }

  /** The same with another time to wait. */
  public StartOptions withTimeout(Duration newTimeout) {
    return new StartOptions(jars, newTimeout, mainClasses);
  }

  /** Whether something else than Stele's own process runs as that kind of component. */
  boolean hasStandIn(ComponentKind kind) {
    return mainClasses.containsKey(ApplicationMasterMain.ENV_MAIN + kind.name());
  }

  /** The same, with a stand-in for one kind of component. */
  StartOptions withMain(ComponentKind kind, Class<?> main) {
    Map<String, String> all = new HashMap<>(mainClasses);
    all.put(ApplicationMasterMain.ENV_MAIN + kind.name(), main.getName());
    return new StartOptions(jars, timeout, all);
  }
}
