package io.stele.client;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;

/**
 * A connection to a Stele cluster: where a program begins.
 *
 * <pre>{@code
 * try (Stele stele = Stele.connect(conf)) {
 *   Table pages = stele.table("webtable");
 *   pages.mutate(
 *       Mutation.of("com.example/index.html")
 *           .put("contents", "", html)
 *           .put("anchor", "org.apache/", "an example"));
 *   pages.readRow("com.example/index.html").ifPresent(System.out::println);
 *   try (Rows rows = pages.readRows(RowQuery.prefix("com.example/").family("anchor").limit(100))) {
 *     for (Row row : rows) {
 *       System.out.println(row.key());
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>One connection is enough for a process: it is safe for use by any number of threads, keeps one
 * network connection to each tablet server it talks to, and remembers where tablets are. Reads and
 * writes go to the tablet servers directly; neither the master nor the lock service is asked for
 * them, except to find out where things are.
 */
public final class Stele implements AutoCloseable {
  private Stele() {}

  /**
   * Connects to the cluster that {@code conf} names: {@code stele.zookeeper.quorum} and {@code
   * stele.cluster.name}, usually from {@code stele-site.xml}.
   *
   * @throws io.stele.model.SteleException REFUSED where a {@code stele.*} key is unknown or has a
   *     value that it does not take
   * @throws IOException where the lock service cannot be reached
   */
  public static Stele connect(Configuration conf) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * The table of that name.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where there is none
   * @throws IOException where the lock service cannot be asked
   */
  public Table table(String name) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Makes and changes tables. */
  public Admin admin() {
    throw new UnsupportedOperationException();
  }

  /** Closes the connection; calls still under way fail. Closing again does nothing. */
  @Override
  public void close() {}
}
