package io.stele.cli;

import io.stele.client.ClusterJob;
import io.stele.model.SteleException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The names of jobs for people. A name has 65 characters, drawn at random; its beginning tells it
 * from all others that there are.
 */
final class JobNames {
  private static final int SHORTEST = 12;

  private JobNames() {}

  /** As much of {@code name} as tells it from the other {@code names}, and a few characters. */
  static String shortened(String name, Collection<String> names) {
    int length = Math.min(SHORTEST, name.length());
    while (length < name.length() && isShared(name.substring(0, length), name, names)) {
      length++;
    }
    return name.substring(0, length);
  }

  private static boolean isShared(String beginning, String name, Collection<String> names) {
    return names.stream().anyMatch(other -> other.startsWith(beginning) && !other.equals(name));
  }

  /**
   * The job of that name, or whose name alone begins so, with at least as many characters as {@link
   * #shortened} gives; empty if there is none.
   *
   * @throws SteleException REFUSED if several names begin so
   */
  static Optional<ClusterJob> find(List<ClusterJob> jobs, String text) {
    List<ClusterJob> found =
        jobs.stream()
            .filter(job -> job.name().startsWith(text))
            .filter(job -> text.length() >= SHORTEST || job.name().equals(text))
            .toList();
    if (found.size() > 1) {
      throw SteleException.refused(
          "the names of "
              + found.size()
              + " jobs begin with "
              + text
              + ": `stele job list --full` shows them");
    }
    return found.stream().findFirst();
  }
}
