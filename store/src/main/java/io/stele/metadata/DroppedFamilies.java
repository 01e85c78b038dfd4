package io.stele.metadata;

import static java.util.stream.Collectors.toUnmodifiableMap;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The families that a table once had. Its files and logs may still have their cells, so these are
 * erased before another family takes such a name. Immutable.
 *
 * <p>A job that was under way when a family was dropped may have written cells of it into files
 * that no tablet has yet, so that they cannot be erased. Until such a job is over, the name stays
 * unused: the cells would be those of the new family.
 *
 * @param names the names of the families
 * @param byJob the families that were dropped while a job was under way, by job, or by {@link
 *     #ANY_JOB}; one of {@code names} at least for each
 */
public record DroppedFamilies(Set<String> names, Map<String, Set<String>> byJob) {
  /** In place of a job's name, until it is known which jobs were under way: any job was. */
  static final String ANY_JOB = "*";

  /** No family was ever dropped. */
  public static final DroppedFamilies NONE = new DroppedFamilies(Set.of(), Map.of());

  public DroppedFamilies {
    names = Set.copyOf(names);
    byJob =
        byJob.entrySet().stream()
            .collect(toUnmodifiableMap(Map.Entry::getKey, job -> Set.copyOf(job.getValue())));
  }

  /**
   * With {@code families} dropped too.
   *
   * @param jobs all that there are now; others are over, and are forgotten
   */
  DroppedFamilies and(Collection<String> families, Collection<String> jobs) {
    Set<String> all = new TreeSet<>(names);
    all.addAll(families);
    Map<String, Set<String>> under = new TreeMap<>();
    for (String job : jobs) {
      Set<String> dropped = new TreeSet<>(under(job));
      dropped.addAll(families);
      if (!dropped.isEmpty()) {
        under.put(job, dropped);
      }
    }
    return new DroppedFamilies(all, under);
  }

  /** Without {@code families}: the table has families of these names again. */
  DroppedFamilies without(Collection<String> families) {
    Set<String> left = new TreeSet<>(names);
    left.removeAll(families);
    Map<String, Set<String>> under = new TreeMap<>();
    byJob.forEach(
        (job, dropped) -> {
          Set<String> still = new TreeSet<>(dropped);
          still.removeAll(families);
          if (!still.isEmpty()) {
            under.put(job, still);
          }
        });
    return new DroppedFamilies(left, under);
  }

  /** The families that were dropped while a job was under way, or may have been. */
  public Set<String> under(String job) {
    Set<String> dropped = new TreeSet<>(byJob.getOrDefault(job, Set.of()));
    dropped.addAll(byJob.getOrDefault(ANY_JOB, Set.of()));
    return dropped;
  }

  /**
   * The jobs, over or not, that were under way when one of {@code families} was dropped; {@link
   * #ANY_JOB} among them if others may have been.
   */
  SortedSet<String> jobsOf(Collection<String> families) {
    SortedSet<String> jobs = new TreeSet<>();
    byJob.forEach(
        (job, dropped) -> {
          if (families.stream().anyMatch(dropped::contains)) {
            jobs.add(job);
          }
        });
    return jobs;
  }
}
