package io.stele.yarn;

import java.util.ArrayList;
import java.util.List;

/**
 * Components that wait alike: of one kind, without a container, with the same state and note.
 *
 * @param first the first of them
 * @param more how many others there are
 */
public record AlikeComponents(ComponentStatus first, int more) {
  /** Up to this many are shown one by one. */
  private static final int FEW = 3;

  /** Sums up {@code components}, in their order; few that are alike stay as they are. */
  public static List<AlikeComponents> of(List<ComponentStatus> components) {
    List<AlikeComponents> all = new ArrayList<>();
    int next = 0;
    while (next < components.size()) {
      ComponentStatus first = components.get(next);
      int end = next + 1;
      while (end < components.size() && isAlike(first, components.get(end))) {
        end++;
      }
      if (end - next > FEW) {
        all.add(new AlikeComponents(first, end - next - 1));
      } else {
        components.subList(next, end).forEach(one -> all.add(new AlikeComponents(one, 0)));
      }
      next = end;
    }
    return all;
  }

  private static boolean isAlike(ComponentStatus one, ComponentStatus other) {
    return one.container().isEmpty()
        && other.container().isEmpty()
        && SlotId.parse(one.id()).kind() == SlotId.parse(other.id()).kind()
        && one.state().equals(other.state())
        && one.restarts() == other.restarts()
        && one.note().equals(other.note());
  }

  /** Their names, for people: {@code tabletserver-4}, or {@code tabletserver-4 and 96 more}. */
  public String names() {
    return named(first.id(), more);
  }

  /** The name of {@code first} and the number of the others. */
  static String named(String first, int more) {
    return more == 0 ? first : first + " and " + more + " more";
  }
}
