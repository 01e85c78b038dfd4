package io.stele.examples.analytics;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.examples.Example;
import io.stele.examples.ReportTable;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.mapreduce.Job;

/** Generates clicks, sums them up, and shows the summaries. */
public final class Analytics extends Example {
  private static final String CLICKS = "clicks";
  private static final String SUMMARIES = "summaries";
  private static final long SESSIONS = 100_000;

  @Override
  protected String usage() {
    return """
        analytics run [SESSIONS] [SEED]       all of these, one after the other
        analytics generate [SESSIONS] [SEED]  makes up sessions, and writes them to table clicks
        analytics summarize                   sums them up by site and day, in place of table summaries
        analytics show [SITE]                 prints the summaries of all sites, or the days of one

        SESSIONS is 100000 unless given. The same SEED, 1 unless given, makes the same sessions.
        """;
  }

  @Override
  protected Map<String, Command> commands() {
    return Map.of(
        "run", this::runAll,
        "generate", this::generate,
        "summarize", none -> this::summarize,
        "show", Analytics::show);
  }

  private Work runAll(List<String> arguments) {
    Work generate = generate(arguments);
    return stele -> {
      generate.on(stele);
      summarize(stele);
      System.out.print(sites(stele) + "\n" + days(stele, "com.example.s00"));
    };
  }

  private static Work show(List<String> arguments) {
    return stele ->
        System.out.print(
            arguments.isEmpty() ? sites(stele).toString() : days(stele, arguments.get(0)));
  }

  private Work generate(List<String> arguments) {
    long sessions = number(arguments, 0, SESSIONS);
    long seed = number(arguments, 1, 1);
    return stele -> {
      createIfMissing(stele, Clicks.schema(CLICKS));
      complete(Clicks.generate(getConf(), CLICKS, sessions, seed));
      System.out.printf("%,d sessions written to table %s%n", sessions, CLICKS);
    };
  }

  private void summarize(Stele stele) throws Exception {
    createIfMissing(stele, SiteDay.schema(SUMMARIES));
    Job job = complete(Summaries.job(getConf(), CLICKS, SUMMARIES));
    long bytes = job.getCounters().findCounter(TableInputFormat.Counter.BYTES).getValue();
    long onDisk = stele.table(CLICKS).tablets().stream().mapToLong(TabletInfo::bytes).sum();
    System.out.printf(
        "%,d bytes of clicks, %,d on disk (%d %%), summed up in table %s%n%n",
        bytes, onDisk, 100 * onDisk / Math.max(1, bytes), SUMMARIES);
  }

  private static List<SiteDay> read(Stele stele, String prefix) throws IOException {
    List<SiteDay> days = new ArrayList<>();
    RowQuery query = RowQuery.prefix(prefix);
    try (Rows rows = stele.table(SUMMARIES).readRows(query)) {
      for (Row row : rows) {
        days.add(SiteDay.MAPPING.record(row));
      }
    }
    return days;
  }

  /** A line for each site. */
  private static ReportTable sites(Stele stele) throws IOException {
    ReportTable table = new ReportTable("site", "days", "sessions", "clicks", "busiest day");
    Map<String, List<SiteDay>> sites =
        read(stele, "").stream()
            .collect(Collectors.groupingBy(SiteDay::site, TreeMap::new, Collectors.toList()));
    sites.forEach(
        (site, days) -> {
          SiteDay busiest = days.get(0);
          for (SiteDay day : days) {
            busiest = day.sessions > busiest.sessions ? day : busiest;
          }
          long sessions = days.stream().mapToLong(day -> day.sessions).sum();
          long clicks = days.stream().mapToLong(day -> day.clicks).sum();
          table.row(site, days.size(), sessions, clicks, busiest.day());
        });
    return table;
  }

  /** The days of a site, and its pages over all these days. */
  private static String days(Stele stele, String site) throws IOException {
    ReportTable days = new ReportTable(site, "sessions", "clicks", "visitors", "median duration");
    SiteDay all = new SiteDay();
    List<SiteDay> ofSite = read(stele, site + " ");
    if (ofSite.isEmpty()) {
      throw SteleException.notFound(
          "table "
              + SUMMARIES
              + " has no day of site "
              + site
              + "; `analytics show` lists the sites");
    }
    for (SiteDay day : ofSite) {
      long seconds = day.medianMillis / 1000;
      String median = String.format("%d:%02d", seconds / 60, seconds % 60);
      days.row(day.day(), day.sessions, day.clicks, day.visitors, median);
      day.views.forEach((page, count) -> all.views.merge(page, count, Long::sum));
      day.viewers.forEach((page, count) -> all.viewers.merge(page, count, Long::sum));
      day.buyers.forEach((page, count) -> all.buyers.merge(page, count, Long::sum));
    }
    ReportTable pages = new ReportTable("page", "views", "visitors", "bought later on that day");
    all.viewers.forEach(
        (page, viewers) -> {
          long buyers = all.buyers.getOrDefault(page, 0L);
          String share = String.format("%d %%", 100 * buyers / viewers);
          pages.row(page, all.views.getOrDefault(page, 0L), viewers, share);
        });
    return days + "\n" + pages;
  }

  /** Runs the program. */
  public static void main(String[] args) throws Exception {
    main(new Analytics(), args);
  }
}
