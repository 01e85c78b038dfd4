package io.stele.lock;

import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.util.Optional;

/** The nodes of the lock service that Stele uses, relative to {@code /stele/<cluster>}. */
public final class LockPaths {
  /** The lock of the active master; its data is the master's address. */
  public static final String MASTER = "master";

  /** Above the locks of the tablet servers. */
  public static final String SERVERS = "servers";

  /** Above the tablet servers whose locks a master took away on suspicion. */
  public static final String SUSPECTS = "suspects";

  /** The root tablet's record. */
  public static final String ROOT = "root";

  /** Above the tables' schemas, by table id. */
  public static final String TABLES = "tables";

  /** The number of the newest table id. */
  public static final String TABLE_IDS = "table-ids";

  /** Above the tables' names: whose each is, and the changes of schema made under it. */
  public static final String NAMES = "names";

  /** Up to which number changes of schema under names that have no node may be forgotten. */
  public static final String FORGOTTEN_CHANGES = "forgotten-changes";

  /** What the cluster says of itself: version, root directory. */
  public static final String REGISTRATION = "registration";

  /** The id of the YARN application that has the cluster; it stays while that one restarts. */
  public static final String APPLICATION = "application";

  /** Whether tablets are balanced: "on" or "off"; on where there is no node. */
  public static final String BALANCE = "balance";

  /** Above the jobs that keep what they read. */
  public static final String JOBS = "jobs";

  /** Above the changes that clear rows of tables, by their ids. */
  public static final String CLEARINGS = "clearings";

  private LockPaths() {}

  /** The lock of a tablet server; its data are the server's addresses. */
  public static String server(ServerId server) {
    return SERVERS + "/" + server;
  }

  /** Where a master notes that it took a server's lock away while the server may have lived. */
  public static String suspect(ServerId server) {
    return SUSPECTS + "/" + server;
  }

  /** A job; its data is its lease. */
  public static String job(String job) {
    return JOBS + "/" + job;
  }

  /** A change that clears rows; its data is its number and the table's name. */
  public static String clearing(String change) {
    return CLEARINGS + "/" + change;
  }

  /** The name of the node at {@code path}, if it is a child of {@code parent}. */
  public static Optional<String> childName(String parent, String path) {
    return Optional.of(path)
        .filter(child -> child.startsWith(parent + "/"))
        .map(child -> child.substring(parent.length() + 1))
        .filter(name -> name.indexOf('/') < 0);
  }

  /** A table's schema. */
  public static String table(TableId table) {
    return TABLES + "/" + table;
  }

  /**
   * The node of a table's name.
   *
   * @throws SteleException REFUSED if the name cannot be one element of a path
   */
  public static String tableName(String name) {
    if (name.isEmpty() || name.contains("/") || name.equals(".") || name.equals("..")) {
      throw SteleException.refused(
          "\""
              + name
              + "\" cannot name a table: a name is 1 to 128 letters, digits, '_', '-' and '.'");
    }
    return NAMES + "/" + name;
  }

  /**
   * Refuses what is not a relative path of non-empty elements.
   *
   * @throws IllegalArgumentException for such a path
   */
  public static void check(String path) {
    for (String element : path.split("/", -1)) {
      if (element.isEmpty() || element.equals(".") || element.equals("..")) {
        throw new IllegalArgumentException(
            "\""
                + path
                + "\" is not a lock path: it must be elements joined by '/', none of them empty");
      }
    }
  }

  /**
   * Refuses what no node can have.
   *
   * @param path of the node, relative
   * @param shownPath the path as people know it, for the message
   * @throws IllegalArgumentException if it is not a relative path of non-empty elements
   * @throws SteleException REFUSED if the data is larger than {@link LockService#DATA_BYTES_MAX}
   */
  public static void check(String path, Bytes data, String shownPath) {
    check(path);
    if (data.length() > LockService.DATA_BYTES_MAX) {
      throw SteleException.refused(
          "the node "
              + shownPath
              + " would have "
              + data.length()
              + " bytes: the limit is "
              + LockService.DATA_BYTES_MAX);
    }
  }
}
