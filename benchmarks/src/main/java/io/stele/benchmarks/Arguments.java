package io.stele.benchmarks;

import java.util.List;

/** The arguments of a benchmark, all of which may be left out from the last one on. */
record Arguments(List<String> all) {
  Arguments(String[] all) {
    this(List.of(all));
  }

  /** The whole number at {@code index}, or {@code otherwise}. */
  int number(int index, int otherwise) {
    return index < all.size() ? Integer.parseInt(all.get(index)) : otherwise;
  }

  /** All from {@code index} on. */
  List<String> from(int index) {
    return all.subList(Math.min(index, all.size()), all.size());
  }

  /** Whether {@code word} is at {@code index}, or nothing is. */
  boolean isOrLeftOut(int index, String word) {
    return index >= all.size() || all.get(index).equals(word);
  }
}
