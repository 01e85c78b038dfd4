package io.stele.client;

import io.stele.model.ServerId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A cluster as its master sees it.
 *
 * @param master the address of the master's control plane, host:port
 * @param webAddress the address of the master's page, host:port
 * @param servers the live tablet servers, by name
 * @param tables the number of tables, without METADATA
 * @param tablets the number of all tablets
 * @param unassigned the number of tablets that no server serves now
 * @param balanced whether balancing was on when the master last looked, about a second ago; {@link
 *     Admin#isBalanced} has it look
 * @param troubled tablets that need an operator
 * @param changes the table changes in progress
 * @param recoveries recoveries of dead servers' tablets, over or in progress; the latest first, as
 *     far as the master remembers
 */
public record ClusterStatus(
    String master,
    Optional<String> webAddress,
    List<Server> servers,
    int tables,
    int tablets,
    int unassigned,
    boolean balanced,
    List<Troubled> troubled,
    List<Change> changes,
    List<Recovery> recoveries) {
  public ClusterStatus {
    servers = List.copyOf(servers);
    troubled = List.copyOf(troubled);
    changes = List.copyOf(changes);
    recoveries = List.copyOf(recoveries);
  }

  /** What to do where no other server takes tablets. */
  public static final String START_ANOTHER =
      "start one more, or let one that drains take tablets again"
          + " (`stele server drain --undo SERVER`)";

  /** How many servers take tablets: all but those that drain. */
  public long takers() {
    return servers.stream().filter(server -> !server.draining()).count();
  }

  /**
   * Whether a server other than this one takes tablets: it can have them while this one is away.
   */
  public boolean anotherTakesTablets(ServerId server) {
    return servers.stream().anyMatch(one -> !one.id().equals(server) && !one.draining());
  }

  /**
   * A tablet that cannot be loaded, or whose maintenance fails again and again.
   *
   * @param tablet its id, as {@link Admin#releaseTablet} takes it
   * @param served whether it is served nevertheless
   * @param quarantined whether it failed so often that the master tries to load it only rarely, or
   *     at once when it is released
   * @param reason why, in words
   */
  public record Troubled(String tablet, boolean served, boolean quarantined, String reason) {}

  /**
   * A table change in progress.
   *
   * @param id its id, as {@link Admin#tableChange} takes it
   * @param table the table's name
   * @param action what is done to it: created, altered, dropped or cleared of rows
   * @param begun when, by the clock of the master that began it
   * @param progress how far it is
   */
  public record Change(
      String id, String table, String action, Instant begun, TableChange.Progress progress) {}

  /**
   * The recovery of a dead server's tablets.
   *
   * @param server the dead server
   * @param loss when the master saw that it was lost
   * @param tablets how many tablets it had
   * @param stages the finished stages, and how long each took
   * @param first when the first tablet was served again, counted from the loss
   * @param over whether all are served again
   */
  public record Recovery(
      String server,
      Loss loss,
      int tablets,
      List<Stage> stages,
      Optional<Duration> first,
      boolean over) {
    public Recovery {
      stages = List.copyOf(stages);
    }

    /**
     * When the master saw that a server was lost.
     *
     * @param seen when it did, by the master's clock
     * @param detection the most that passed between the server's death and {@code seen}: the time
     *     since its last report to the master; empty if there was none
     */
    public record Loss(Instant seen, Optional<Duration> detection) {}

    /**
     * A part of a recovery.
     *
     * @param what it is, in words
     * @param took how long it took
     */
    public record Stage(String what, Duration took) {}

    /**
     * How long the finished stages took together; if all are finished, how long the tablets were
     * not served.
     */
    public Duration took() {
      return stages.stream().map(Stage::took).reduce(Duration.ZERO, Duration::plus);
    }
  }

  /**
   * A tablet server.
   *
   * @param id its name
   * @param webAddress the address of its page, host:port, if it has one
   * @param tablets how many tablets it serves
   * @param memtableBytes the bytes in their memtables
   * @param sstableBytes the bytes of their SSTables on disk
   * @param localPercent the share of these bytes that lies on the server's own host, in percent;
   *     empty as long as the server does not know it
   * @param draining whether it gives its tablets away and takes no others
   */
  public record Server(
      ServerId id,
      Optional<String> webAddress,
      int tablets,
      long memtableBytes,
      long sstableBytes,
      Optional<Integer> localPercent,
      boolean draining) {}
}
