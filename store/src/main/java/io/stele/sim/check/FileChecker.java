package io.stele.sim.check;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/** Whether the SSTables there are, and those that METADATA names, are the same. */
public final class FileChecker {
  private FileChecker() {}

  /**
   * Files that are named but are not there, and files that nothing names.
   *
   * @param records the records of METADATA, read before the files were listed for those missing,
   *     and after it for those leaked; at rest there is no difference. Tentative records count
   * @param ages the SSTables there are, with the time since each was last changed
   * @param inProgress paths of files that something not in METADATA has a claim to, such as a
   *     compaction under way
   * @param youngMax a file that nothing names is leaked if it is older than this
   */
  public static List<Violation> check(
      List<TabletRecordView> records,
      SortedMap<String, Duration> ages,
      Set<String> inProgress,
      Duration youngMax) {
    Findings findings = new Findings("files");
    Set<String> named = new HashSet<>(inProgress);
    for (TabletRecordView record : records) {
      named.addAll(record.files());
      named.addAll(record.dropped());
      for (String file : record.files()) {
        if (!ages.containsKey(file)) {
          findings.add("file " + file + " of tablet " + record.id() + " is missing");
        }
      }
    }
    for (Map.Entry<String, Duration> file : ages.entrySet()) {
      if (!named.contains(file.getKey()) && file.getValue().compareTo(youngMax) > 0) {
        String text = " is leaked: nothing has named it for " + file.getValue();
        findings.add("file " + file.getKey() + text);
      }
    }
    return findings.violations();
  }
}
