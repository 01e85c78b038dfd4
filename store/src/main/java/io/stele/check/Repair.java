package io.stele.check;

import java.util.Comparator;

/**
 * A repair of a problem, for which nothing has to be brought back first.
 *
 * @param target the server, table or tablet, by its id
 * @param loss what is given up by it, in words; empty if that is nothing
 */
public record Repair(Kind kind, String target, String loss) implements Comparable<Repair> {
  private static final Comparator<Repair> ORDER =
      Comparator.comparing(Repair::kind).thenComparing(Repair::target).thenComparing(Repair::loss);

  /**
   * In the order in which they are to be done: a tablet in quarantine is tried again when what kept
   * it from being loaded is gone.
   */
  public enum Kind {
    /** Have tablets go on without the log of a dead server, which is gone. */
    GIVE_UP_LOG(true, "continue without the log of dead server %s"),
    /** Delete METADATA's records of a table that the lock service does not have. */
    FORGET_TABLE(true, "delete the records of table %s"),
    /** Treat a server as dead, so that its tablets are served elsewhere. */
    EVICT_SERVER(false, "treat server %s as dead"),
    /** Treat a server as dead that does not answer the master either. */
    EVICT_SILENT_SERVER(false, "treat server %s as dead if the master cannot reach it either"),
    /** Have a tablet in quarantine tried again. */
    RELEASE_TABLET(false, "try tablet %s again");

    private final boolean losesData;
    private final String text;

    Kind(boolean losesData, String text) {
      this.losesData = losesData;
      this.text = text;
    }
  }

  /** A repair by which nothing is given up. */
  Repair(Kind kind, String target) {
    this(kind, target, "");
  }

  /** Whether data is given up by it that might still be brought back. */
  public boolean losesData() {
    return kind.losesData;
  }

  /** What it does and what it gives up, in words. */
  public String text() {
    return String.format(kind.text, target) + (loss.isEmpty() ? "" : ": " + loss);
  }

  @Override
  public int compareTo(Repair other) {
    return ORDER.compare(this, other);
  }
}
