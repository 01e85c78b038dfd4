package io.stele.examples;

import io.stele.examples.analytics.Analytics;
import io.stele.examples.earth.Earth;
import io.stele.examples.search.Search;
import io.stele.examples.webtable.WebtableLink;
import io.stele.examples.webtable.WebtableLoad;
import io.stele.examples.webtable.WebtableRank;
import io.stele.examples.webtable.WebtableReport;
import org.apache.hadoop.util.ProgramDriver;

/** Runs an example by its name: what {@code hadoop jar stele-examples.jar} does. */
public final class Examples {
  private Examples() {}

  /** Runs the example that the first argument names; without one, lists them all. */
  public static void main(String[] args) throws Throwable {
    ProgramDriver programs = new ProgramDriver();
    programs.addClass("analytics", Analytics.class, "sums up the visits of web sites");
    programs.addClass("earth", Earth.class, "makes a map of pictures of the earth");
    programs.addClass("search", Search.class, "finds pages by what users did before");
    programs.addClass("webtable-load", WebtableLoad.class, "fills a Webtable with pages");
    programs.addClass("webtable-link", WebtableLink.class, "inverts the links of a Webtable");
    programs.addClass("webtable-rank", WebtableRank.class, "ranks the pages of a Webtable");
    programs.addClass("webtable-report", WebtableReport.class, "sums a Webtable up");
    System.exit(programs.run(args));
  }
}
