package io.stele.master;

import java.util.Collection;
import java.util.List;

/**
 * How far tablets may go to the servers that have their bytes without leaving servers so uneven
 * that {@link Balancer} moves tablets again.
 *
 * <p>A tablet weighs one on average; number and bytes have equal parts in the weight. When all
 * tablets are assigned, each server should weigh as much as the average server, give or take half
 * of the balancer's slack. So a server may get a tablet with local bytes if it then weighs no more
 * than that, and if the remaining tablets still suffice to bring all other servers up to that.
 *
 * <p>For one thread.
 */
final class Evenness {
  private static final double ERROR = 1e-9; // Of rounding.

  private final Weights weights;
  private final double slack;
  private final double least;
  private final double most;
  private double spare; // What is left when the light servers have got what they lack.

  /**
   * An evenness of {@code servers} that will get {@code free}.
   *
   * @param servers what they have
   */
  Evenness(Collection<Holdings> servers, List<ClusterSnapshot.Tablet> free) {
    int tablets = free.size();
    long bytes = 0;
    for (ClusterSnapshot.Tablet tablet : free) {
      bytes += tablet.bytes();
    }
    long freeBytes = bytes;
    for (Holdings server : servers) {
      tablets += server.tablets();
      bytes += server.bytes();
    }
    weights = Weights.of(tablets, bytes, 0);
    double mean = Weights.mean(tablets, servers.size());
    slack = Weights.slack(mean, BalanceSchedule.SLACK) / 2;
    least = mean - slack;
    most = mean + slack;
    spare = weights.weigh(free.size(), freeBytes, 0);
    for (Holdings server : servers) {
      spare -= lacks(weight(server));
    }
  }

  /** What a server with tablets has. */
  record Holdings(int tablets, long bytes) {
    Holdings plus(ClusterSnapshot.Tablet tablet) {
      return new Holdings(tablets + 1, bytes + tablet.bytes());
    }
  }

  double weight(Holdings server) {
    return weights.weigh(server.tablets(), server.bytes(), 0);
  }

  private double lacks(double weight) {
    return Math.max(0, least - weight);
  }

  /** What is spent of the spare weight when a server gets a tablet. */
  private double cost(Holdings server, Holdings after) {
    double before = weight(server);
    return weight(after) - before - (lacks(before) - lacks(weight(after)));
  }

  /** Whether a server may get a tablet though another is lighter. */
  boolean allows(Holdings server, ClusterSnapshot.Tablet tablet) {
    Holdings after = server.plus(tablet);
    return weight(after) <= most + ERROR && cost(server, after) <= Math.max(0, spare) + ERROR;
  }

  /** Whether a server that weighs {@code weight} is about as light as the lightest. */
  boolean isAbout(double weight, double lightest) {
    return weight <= lightest + slack + ERROR;
  }

  /** A server gets a tablet. */
  void assign(Holdings server, ClusterSnapshot.Tablet tablet) {
    spare -= cost(server, server.plus(tablet));
  }
}
