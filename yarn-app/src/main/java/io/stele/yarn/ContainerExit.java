package io.stele.yarn;

import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;

/**
 * How a container ended, as YARN tells it.
 *
 * @param status the process's exit code, or one of YARN's own (negative)
 * @param diagnostics YARN's words, with the end of the process's stderr
 */
record ContainerExit(int status, String diagnostics) {
  private static final int DIAGNOSTICS_MAX = 4000;

  /** As Java prints it when it exits because of it, or as we print it when it was thrown. */
  private static final Pattern OUT_OF_MEMORY =
      Pattern.compile("java\\.lang\\.OutOfMemoryError(: [^\\n]*)?");

  /** What a restarted NodeManager says of a process that it did not find again. */
  private static final int LOST = 154;

  /** What our own processes say of their end. */
  private static final Pattern OUR_WORDS =
      Pattern.compile("^The (?:master|tablet server) .*$", Pattern.MULTILINE);

  /** A NodeManager that kills a container tells so when the process has ended. */
  private static final Set<Integer> SEEN_BY_THE_NODE =
      Set.of(ContainerExitStatus.KILLED_EXCEEDED_PMEM, ContainerExitStatus.KILLED_EXCEEDED_VMEM);

  /** Endings that YARN or its machines brought about: they tell nothing of the process. */
  private static final Set<Integer> NOT_ITS_FAULT =
      Set.of(
          ContainerExitStatus.ABORTED,
          ContainerExitStatus.DISKS_FAILED,
          ContainerExitStatus.PREEMPTED,
          ContainerExitStatus.KILLED_BY_APPMASTER,
          ContainerExitStatus.KILLED_BY_RESOURCEMANAGER,
          ContainerExitStatus.KILLED_AFTER_APP_COMPLETION,
          ContainerExitStatus.KILLED_BY_CONTAINER_SCHEDULER);

  /**
   * Whether the node itself saw the process end. YARN also tells of the end of containers whose
   * nodes it lost, or that it is about to kill: their processes may go on for a while.
   */
  boolean wasSeen() {
    return (status >= 0 && status != LOST) || SEEN_BY_THE_NODE.contains(status);
  }

  boolean itsOwnFault() {
    return !NOT_ITS_FAULT.contains(status);
  }

  /**
   * A message, of which the first line says what happened, why and where; after it comes the
   * process's last output.
   */
  String describe(String container, String node) {
    String words = diagnostics.strip();
    if (words.length() > DIAGNOSTICS_MAX) {
      words = words.substring(words.length() - DIAGNOSTICS_MAX);
    }
    String first = what(words) + " on " + node + " (" + container + ")";
    if (words.isEmpty() || !itsOwnFault()) {
      return first;
    }
    return first + why(words) + "\n" + words;
  }

  private static String why(String words) {
    return OUR_WORDS
        .matcher(words)
        .results()
        .map(MatchResult::group)
        .findFirst()
        .map(": "::concat)
        .orElse("");
  }

  private String what(String words) {
    Matcher outOfMemory = OUT_OF_MEMORY.matcher(words);
    if (itsOwnFault() && outOfMemory.find()) {
      return "ran out of memory ("
          + outOfMemory.group()
          + ", exit "
          + status
          + "; raise its stele.yarn.*.memory)";
    }
    return switch (status) {
      case 0 -> "exited on its own (exit 0)";
      case 137 -> "was killed (exit 137)";
      case 143 -> "was terminated (exit 143)";
      case ContainerExitStatus.ABORTED -> "was lost with its node or released";
      case ContainerExitStatus.DISKS_FAILED -> "was stopped because the node's disks failed";
      case ContainerExitStatus.PREEMPTED -> "was preempted by YARN";
      case ContainerExitStatus.KILLED_EXCEEDED_PMEM ->
          "was killed for using more memory than its container has; raise its stele.yarn.*.memory";
      case ContainerExitStatus.KILLED_EXCEEDED_VMEM ->
          "was killed for using more virtual memory than its container may; raise its"
              + " stele.yarn.*.memory or set yarn.nodemanager.vmem-check-enabled=false";
      default -> "ended with exit code " + status;
    };
  }
}
