package io.stele.client;

import io.stele.model.Bytes;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.util.List;

/**
 * Makes, changes and describes tables, through the master.
 *
 * <p>Every call throws {@link io.stele.model.SteleException} RETRY_LATER where no master is active
 * within {@code stele.client.timeout}, and {@link IOException} where the thread was interrupted or
 * the lock service cannot be reached.
 *
 * <p>Safe for use by any number of threads.
 */
public final class Admin {
  Admin() {}

  /**
   * Creates a table of one tablet; it can be used when this returns.
   *
   * @throws io.stele.model.SteleException REFUSED where there is one of that name
   */
  public void createTable(TableSchema schema) throws IOException {
    createTable(schema, List.of());
  }

  /**
   * Creates a table cut into tablets at the given rows; it can be used when this returns.
   *
   * @param splitRows each is the first row of a further tablet; in any order
   * @throws io.stele.model.SteleException REFUSED where there is one of that name
   */
  public void createTable(TableSchema schema, List<Bytes> splitRows) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Gives the table of that name another schema. What a family that is no longer in it held is
   * gone.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where there is none of that name
   */
  public void alterTable(TableSchema schema) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Drops a table and all it holds.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where there is none of that name
   */
  public void dropTable(String name) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * The schema of a table, read from the lock service: no master is needed.
   *
   * @throws io.stele.model.SteleException NOT_FOUND where there is none of that name
   */
  public TableSchema describeTable(String name) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The schemas of all tables, by name. */
  public List<TableSchema> listTables() throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The cluster as its master sees it. */
  public ClusterStatus clusterStatus() throws IOException {
    throw new UnsupportedOperationException();
  }
}
