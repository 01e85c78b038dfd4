package io.stele.client;

import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Transport;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.Credentials;

/**
 * A connection to a Stele cluster. A program begins here.
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
 * writes go to the tablet servers directly; the master is not involved, and ZooKeeper only to find
 * the root tablet.
 */
public final class Stele implements AutoCloseable {
  private final Connection connection;
  private final Admin admin;
  private final Jobs jobs;

  private Stele(Connection connection) {
    this.connection = connection;
    this.admin = new Admin(connection);
    this.jobs = new Jobs(connection, admin);
  }

  /**
   * Connects to the cluster that {@code conf} names: {@code stele.zookeeper.quorum} and {@code
   * stele.cluster.name}, usually from {@code stele-site.xml}. A call that waits 3 s for a master or
   * a server logs a warning that says why; a connection logs at most one a minute.
   *
   * @throws io.stele.model.SteleException REFUSED if a {@code stele.*} key is unknown or has a
   *     value that is not allowed
   * @throws IOException if ZooKeeper cannot be reached
   */
  public static Stele connect(Configuration conf) throws IOException {
    return new Stele(Connection.open(conf, Optional.empty(), Optional.empty()));
  }

  /**
   * Connects as {@link #connect(Configuration)} does, for a program that must regularly report that
   * it is alive, such as a task of a job.
   *
   * @param whileWaiting called every few seconds by each thread that waits in a call of this
   *     connection; it must not block or throw
   */
  public static Stele connect(Configuration conf, Runnable whileWaiting) throws IOException {
    return new Stele(Connection.open(conf, Optional.of(whileWaiting), Optional.empty()));
  }

  /**
   * Connects as {@link #connect(Configuration)} does, for a command that a person runs; nothing is
   * logged.
   *
   * @param teller told in a line, once for each call, that the call has waited some seconds for a
   *     master or a server, and why; called by the thread that waits, it must not block or throw
   */
  public static Stele connectTelling(Configuration conf, Consumer<String> teller)
      throws IOException {
    return new Stele(Connection.open(conf, Optional.empty(), Optional.of(teller)));
  }

  /**
   * Connects over an existing lock service and transport, which stay open when this is closed.
   * Internal: for clusters within one process, such as simulated ones.
   */
  public static Stele over(
      Configuration conf, ProcessRuntime runtime, LockService locks, Transport transport) {
    return over(conf, runtime, locks, transport, Optional.empty());
  }

  /**
   * Like {@link #over(Configuration, ProcessRuntime, LockService, Transport)}.
   *
   * @param files the file system with the cluster's root directory, for direct reading; empty: the
   *     one that {@code conf} names
   */
  public static Stele over(
      Configuration conf,
      ProcessRuntime runtime,
      LockService locks,
      Transport transport,
      Optional<FileSystem> files) {
    Keys.check(conf);
    return new Stele(
        new Connection(conf, Waiting.silent(runtime), locks, transport, files, List.of()));
  }

  /**
   * Adds to {@code credentials} what another process needs to connect to the cluster of {@code
   * conf} in the name of this process's user, such as the tasks of a job. Credentials are passed on
   * in no other way. No cluster requires any yet, so this adds nothing.
   *
   * @throws IOException if the cluster could not be asked for them
   */
  public static void addCredentials(Configuration conf, Credentials credentials)
      throws IOException {
    ClusterConfig.of(conf);
  }

  /**
   * The table of that name.
   *
   * @throws io.stele.model.SteleException NOT_FOUND if there is none
   * @throws IOException if ZooKeeper cannot be asked
   */
  public Table table(String name) throws IOException {
    return connection.table(name);
  }

  /**
   * Tables, tablets, servers and jobs of the cluster, as {@code stele} shows and changes them on
   * the command line.
   */
  public Admin admin() {
    return admin;
  }

  /**
   * What the cluster keeps for jobs that read at a pin or write. Internal: for input and output
   * formats.
   */
  public Jobs jobs() {
    return jobs;
  }

  /** Closes the connection; calls still in progress fail. Closing again does nothing. */
  @Override
  public void close() {
    connection.close();
  }
}
