package io.stele.examples.webtable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * The most linked-to pages: a number of those in the table, and as many of the others. Not safe for
 * use by several threads.
 */
final class TopPages {
  private static final int KEPT = 20;
  private static final Comparator<TopPage> ORDER =
      Comparator.comparingInt(TopPage::referrers).reversed().thenComparing(TopPage::row);

  private final TreeSet<TopPage> inTable = new TreeSet<>(ORDER);
  private final TreeSet<TopPage> elsewhere = new TreeSet<>(ORDER);

  void add(TopPage page) {
    TreeSet<TopPage> pages = page.inTable() ? inTable : elsewhere;
    pages.add(page);
    if (pages.size() > KEPT) {
      pages.pollLast();
    }
  }

  /** Those in the table first, each kind from most to least. */
  List<TopPage> inOrder() {
    List<TopPage> all = new ArrayList<>(inTable);
    all.addAll(elsewhere);
    return all;
  }
}
