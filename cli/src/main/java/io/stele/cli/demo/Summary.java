package io.stele.cli.demo;

import io.stele.cli.TextTable;
import io.stele.client.TabletInfo;
import io.stele.config.Keys;
import io.stele.examples.webtable.TopPage;
import io.stele.examples.webtable.WebtableReport;
import io.stele.model.ServerId;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FileSystem;

/**
 * What the demo has to tell at its end.
 *
 * @param conf the cluster's configuration
 * @param report what the last job found
 * @param firstTablets how many tablets the table was created with
 * @param disk what lies on HDFS
 * @param steps how long each step took
 * @param peakBytes the most memory all processes took together
 * @param peakProcesses the most Java processes at a time
 * @param localReport the report's copy on this machine
 * @param fewAnchors a row with few anchors, to look at
 */
record Summary(
    Configuration conf,
    WebtableReport.Result report,
    int firstTablets,
    Disk disk,
    List<ProgressDisplay.Step> steps,
    OptionalLong peakBytes,
    int peakProcesses,
    Path localReport,
    Optional<String> fewAnchors) {
  private static final int TOP_PAGES = 5;
  private static final int ROW_CHARS_MAX = 64;

  /**
   * What lies on HDFS.
   *
   * @param tables bytes and files below {@code tables}
   * @param logs bytes and files below {@code logs}
   * @param report the report's bytes
   */
  record Disk(ContentSummary tables, ContentSummary logs, long report) {
    static Disk of(Configuration conf, WebtableReport.Result report) throws IOException {
      FileSystem fs = report.file().getFileSystem(conf);
      String root = Keys.ROOT_DIR.in(conf);
      return new Disk(
          of(fs, root + "/tables"),
          of(fs, root + "/logs"),
          fs.getFileStatus(report.file()).getLen());
    }

    private static ContentSummary of(FileSystem fs, String path) throws IOException {
      try {
        return fs.getContentSummary(new org.apache.hadoop.fs.Path(path));
      } catch (FileNotFoundException e) {
        return new ContentSummary.Builder().build(); // Nothing was written there.
      }
    }
  }

  void print(PrintWriter out, Duration whole, boolean kept, Path directory) {
    out.println();
    out.printf(
        Locale.ROOT,
        "Done in %d:%02d min. %,d pages (%,.0f MB) and %,d links are %,d cells in table %s.%n",
        whole.toMinutes(),
        whole.toSecondsPart(),
        report.pages(),
        report.pageBytes() / 1e6,
        report.links(),
        report.cells(),
        io.stele.examples.webtable.Webtable.TABLE);
    out.println();
    out.println("The most linked-to pages:");
    int rank = 1;
    for (TopPage page : report.topPages().stream().limit(TOP_PAGES).toList()) {
      out.printf(Locale.ROOT, "  %d. %s%n", rank++, page.row());
      out.printf(
          Locale.ROOT,
          "     %,d pages link to it, as \"%s\"%n",
          page.referrers(),
          String.join("\", \"", page.anchors()));
    }
    out.println();
    printTablets(out);
    out.println();
    printDisk(out);
    out.println();
    printTimes(out);
    out.println();
    if (kept) {
      printKept(out, directory);
    } else {
      out.println("Nothing is left running. The whole report: " + localReport);
      out.println("Try next:");
      out.println("  bin/stele demo --keep      the same, and the cluster stays up to play with");
      out.println("  bin/stele --help           what else there is");
    }
  }

  private void printTablets(PrintWriter out) {
    Map<String, Long> perServer =
        report.tablets().stream()
            .collect(
                Collectors.groupingBy(
                    Summary::server, java.util.TreeMap::new, Collectors.counting()));
    out.printf(
        Locale.ROOT,
        "%d tablets (%s) on %d tablet %s:%n",
        report.tablets().size(),
        report.tablets().size() > firstTablets
            ? "the " + firstTablets + " it began with split as they grew"
            : "none has grown enough to split",
        perServer.size(),
        perServer.size() == 1 ? "server" : "servers");
    TextTable table = new TextTable("TABLET", "SERVER", "SIZE", "SSTABLES", "FIRST ROW");
    for (TabletInfo tablet : report.tablets()) {
      table.line(
          tablet.id(),
          server(tablet),
          TextTable.size(tablet.bytes()),
          tablet.sstables(),
          shortened(TextTable.firstRow(tablet.rows().start())));
    }
    table.lines("  ").forEach(out::println);
  }

  private static String shortened(String row) {
    return row.length() <= ROW_CHARS_MAX ? row : row.substring(0, ROW_CHARS_MAX - 3) + "...";
  }

  private static String server(TabletInfo tablet) {
    return tablet.server().map(ServerId::hostAndPort).orElse("(moving)");
  }

  private void printDisk(PrintWriter out) {
    String root = conf.get("fs.defaultFS") + Keys.ROOT_DIR.in(conf);
    out.println("On HDFS:");
    new TextTable("DIRECTORY", "FILES", "SIZE", "WHAT")
        .line(
            root + "/tables",
            disk.tables().getFileCount(),
            TextTable.size(disk.tables().getLength()),
            "SSTables, METADATA's among them")
        .line(
            root + "/logs",
            disk.logs().getFileCount(),
            TextTable.size(disk.logs().getLength()),
            "commit logs of the tablet servers")
        .line(report.file().toString(), 1, TextTable.size(disk.report()), "the report")
        .lines("  ")
        .forEach(out::println);
  }

  private void printTimes(PrintWriter out) {
    out.println(
        "Time: "
            + steps.stream()
                .map(
                    step ->
                        String.format(
                            Locale.ROOT,
                            "%s %.1f s",
                            step.title().replaceFirst(":.*", ""),
                            step.time().toMillis() / 1000.0))
                .collect(Collectors.joining(", ")));
    peakBytes.ifPresent(
        bytes ->
            out.println(
                "Memory: "
                    + TextTable.size(bytes)
                    + " at most, of "
                    + peakProcesses
                    + " Java processes together"));
  }

  private void printKept(PrintWriter out, Path directory) {
    boolean found = directory.toString().equals(System.getProperty("stele.work.dir", ""));
    String which = found ? "" : " --conf " + directory;
    String row =
        fewAnchors.orElse(report.topPages().isEmpty() ? "ROW" : report.topPages().get(0).row());
    out.println("The cluster is up. Try, here or in another terminal:");
    out.println("  bin/stele table describe webtable" + which);
    out.println("  bin/stele get webtable '" + row + "' -c anchor" + which);
    out.println(
        "  bin/stele scan webtable --prefix org.apache.hadoop -c language: --limit 10" + which);
    out.println("  bin/stele status" + which);
    out.println("  bin/stele yarn status" + which);
    out.println("  bin/stele file verify " + Keys.ROOT_DIR.in(conf) + "/tables" + which);
    out.println(
        "Jobs that have ended: http://"
            + conf.get("mapreduce.jobhistory.webapp.address", "?")
            + "/jobhistory");
    out.println(
        "For programs: add "
            + directory.resolve("hadoop-client.xml")
            + " and "
            + directory.resolve("stele-site.xml")
            + " to the configuration.");
    out.println("End it with:  bin/stele demo --stop" + (found ? "" : " --dir " + directory));
  }
}
