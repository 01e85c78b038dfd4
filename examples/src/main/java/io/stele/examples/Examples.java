package io.stele.examples;

import io.stele.examples.analytics.Analytics;
import io.stele.examples.earth.Earth;
import io.stele.examples.search.Search;
import io.stele.examples.webtable.WebtableLink;
import io.stele.examples.webtable.WebtableLoad;
import io.stele.examples.webtable.WebtableRank;
import io.stele.examples.webtable.WebtableReport;
import java.util.List;

/** Runs the example that the first argument names, as {@code hadoop jar} does. */
public final class Examples {
  private static final int WRONG_USAGE = 2;

  private record Named(String name, String what, Program program) {}

  private static final List<Named> PROGRAMS =
      List.of(
          new Named("analytics", "sums up the visits of web sites", new Analytics()),
          new Named("earth", "makes a map of pictures of the earth", new Earth()),
          new Named("search", "finds pages, first those that suit the user", new Search()),
          new Named("webtable-load", "fills a Webtable with pages", new WebtableLoad()),
          new Named("webtable-link", "inverts the links of a Webtable", new WebtableLink()),
          new Named("webtable-rank", "ranks the pages of a Webtable", new WebtableRank()),
          new Named("webtable-report", "sums up a Webtable", new WebtableReport()));

  private Examples() {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    System.exit(run(List.of(args)));
  }

  /** Runs it; returns what the process exits with. */
  static int run(List<String> args) throws Exception {
    String name = args.isEmpty() ? "" : args.get(0);
    if (name.equals("--help") || name.equals("-h")) {
      System.out.print(usage());
      return 0;
    }
    for (Named one : PROGRAMS) {
      if (one.name().equals(name)) {
        return one.program().run(args.subList(1, args.size()));
      }
    }
    System.err.print((name.isEmpty() ? "" : "there is no program " + name + "\n\n") + usage());
    return WRONG_USAGE;
  }

  private static String usage() {
    StringBuilder text = new StringBuilder("Name one of the programs; PROGRAM --help says more:\n");
    for (Named one : PROGRAMS) {
      text.append(String.format("  %-16s %s%n", one.name(), one.what()));
    }
    return text.toString();
  }
}
