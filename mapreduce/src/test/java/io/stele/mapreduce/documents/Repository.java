package io.stele.mapreduce.documents;

import java.nio.file.Files;
import java.nio.file.Path;

/** The directory of the sources that are tested. */
public final class Repository {
  private Repository() {}

  /** The directory of the topmost {@code pom.xml} at or above the current directory. */
  public static Path root() {
    Path root = null;
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      if (Files.exists(at.resolve("pom.xml"))) {
        root = at;
      }
    }
    if (root == null) {
      throw new IllegalStateException(
          "no pom.xml at or above " + Path.of("").toAbsolutePath() + ": run tests by Maven");
    }
    return root;
  }
}
