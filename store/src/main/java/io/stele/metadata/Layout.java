package io.stele.metadata;

import io.stele.files.DurableFile;
import io.stele.files.DurableFiles;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.MemberKey;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * A cluster's root directory: its VERSION file and where everything else is.
 *
 * <pre>
 * VERSION                                          layout version and the cluster's id; 0644
 * MEMBERS                                          the key of masters and tablet servers; 0600
 * tables/&lt;table id&gt;/&lt;tablet&gt;/&lt;epoch&gt;-&lt;n&gt;.sst
 * logs/&lt;server id&gt;/{user,system}-&lt;n&gt;.log
 * recovery/&lt;server id&gt;/...                          logs of fenced servers
 * bulk/&lt;job&gt;/...                                   files of jobs
 * lock-service/{root-&lt;epoch&gt;,nodes}-&lt;n&gt;               a copy of the lock service's nodes
 * </pre>
 *
 * The root directory, {@code tables} and {@code bulk} are made so that other users reach what they
 * may read in them, but cannot list them; {@code logs}, {@code recovery} and {@code lock-service}
 * are the store's alone.
 *
 * @param root the directory, qualified
 * @param cluster the id drawn when it was made
 */
public record Layout(Path root, String cluster) {
  /** The version of the layout that this code reads and writes. */
  public static final int VERSION = 1;

  private static final int VERSION_BYTES_MAX = 1024;

  /** Others reach the directories in it that let them, by name. */
  private static final short TRAVERSED = 0711;

  private static final short OWNERS_ALONE = 0700;
  private static final short READ_BY_ALL = 0644;

  /**
   * Opens an existing root directory.
   *
   * @throws SteleException NOT_FOUND if it is not one (yet), REFUSED if it has a newer layout
   */
  public static Layout open(FileSystem fs, Path directory) throws IOException {
    Path root = fs.makeQualified(directory);
    Path file = new Path(root, "VERSION");
    String text;
    try (FSDataInputStream in = fs.open(file)) {
      text = new String(in.readNBytes(VERSION_BYTES_MAX), StandardCharsets.UTF_8);
    } catch (FileNotFoundException e) {
      throw new SteleException(
          SteleException.Code.NOT_FOUND,
          root
              + " is not a root directory of Stele: it has no VERSION file. A master creates it at"
              + " its first start",
          e);
    }
    String[] words = text.strip().split("\\s+");
    if (words.length < 4 || !words[0].equals("layout") || !words[2].equals("cluster")) {
      throw SteleException.refused(
          file + " is not a VERSION file of Stele: it says \"" + text.strip() + "\"");
    }
    int version;
    try {
      version = Integer.parseInt(words[1]);
    } catch (NumberFormatException e) {
      throw new SteleException(
          SteleException.Code.REFUSED, file + " has no valid layout version: " + words[1], e);
    }
    if (version > VERSION) {
      throw SteleException.refused(
          root
              + " has layout version "
              + version
              + ", written by a newer version of Stele; this one reads versions up to "
              + VERSION
              + ": upgrade Stele, or set stele.root.dir to another directory");
    }
    return new Layout(root, words[3]);
  }

  /** Whether a directory has a VERSION file. */
  static boolean hasVersion(FileSystem fs, Path directory) throws IOException {
    return fs.exists(new Path(fs.makeQualified(directory), "VERSION"));
  }

  /** Whether a directory has what is only ever made after its VERSION file. */
  static boolean hasRest(FileSystem fs, Path directory) throws IOException {
    Layout rest = new Layout(fs.makeQualified(directory), "");
    for (Path part : List.of(rest.tables(), rest.logs(), rest.recovery(), rest.lockService())) {
      if (fs.exists(part) && fs.listStatus(part).length > 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Opens the root directory; creates it if there is none. Several processes may do this at once.
   *
   * @throws io.stele.files.NotDurableException if the file system cannot store one durably
   */
  public static Layout openOrCreate(ProcessRuntime runtime, FileSystem fs, Path directory)
      throws IOException {
    Path root = fs.makeQualified(directory);
    Path file = new Path(root, "VERSION");
    DurableFiles files = new DurableFiles(fs);
    if (!fs.exists(file)) {
      makeDirectory(fs, root, TRAVERSED);
      Path draft = draft(runtime, file);
      String text = "layout " + VERSION + "\ncluster " + UniqueName.of(runtime) + "\n";
      DurableFile version = files.create(draft);
      fs.setPermission(draft, new FsPermission(READ_BY_ALL)); // The umask may be stricter.
      publish(fs, version, draft, text, file);
    }
    Layout layout = open(fs, root);
    if (!fs.exists(layout.members())) {
      Path draft = draft(runtime, layout.members());
      String text = MemberKey.draw(runtime.random()).encode() + "\n";
      publish(fs, files.createPrivate(draft), draft, text, layout.members());
    }
    makeDirectory(fs, layout.tables(), TRAVERSED);
    makeDirectory(fs, layout.bulk(), TRAVERSED);
    makeDirectory(fs, layout.logs(), OWNERS_ALONE);
    makeDirectory(fs, layout.recovery(), OWNERS_ALONE);
    layout.makeLockService(fs);
    return layout;
  }

  /** Makes the directory of the lock service's copy, if there is none. */
  void makeLockService(FileSystem fs) throws IOException {
    makeDirectory(fs, lockService(), OWNERS_ALONE);
  }

  /** Makes a directory if there is none. One that is there may have the mode its owner wants. */
  private static void makeDirectory(FileSystem fs, Path directory, short mode) throws IOException {
    if (!fs.exists(directory)) {
      new DurableFiles(fs).mkdirs(directory);
      fs.setPermission(directory, new FsPermission(mode)); // The umask applies to mkdirs.
    }
  }

  private static Path draft(ProcessRuntime runtime, Path file) {
    return file.suffix("." + UniqueName.of(runtime));
  }

  /** Writes {@code text} to {@code draft} and renames it, unless another process was faster. */
  private static void publish(FileSystem fs, DurableFile out, Path draft, String text, Path file)
      throws IOException {
    try (out) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.hsync();
    }
    DurableFiles files = new DurableFiles(fs);
    if (!files.renameToNew(draft, file)) {
      fs.delete(draft, false);
    }
    files.syncNamesIn(file.getParent());
  }

  private Path members() {
    return new Path(root, "MEMBERS");
  }

  /**
   * The key by which the cluster's masters and tablet servers recognize each other.
   *
   * @throws SteleException NOT_FOUND before the master's first start, REFUSED if the file is
   *     damaged
   */
  public MemberKey memberKey(FileSystem fs) throws IOException {
    String text;
    try (FSDataInputStream in = fs.open(members())) {
      text = new String(in.readNBytes(VERSION_BYTES_MAX), StandardCharsets.US_ASCII);
    } catch (FileNotFoundException e) {
      throw new SteleException(
          SteleException.Code.NOT_FOUND,
          members() + " is not there: the master makes it when it starts",
          e);
    }
    try {
      return MemberKey.decode(text.strip());
    } catch (IllegalArgumentException e) {
      throw new SteleException(
          SteleException.Code.REFUSED,
          members()
              + " is damaged: end all masters and tablet servers, delete it, and start them again",
          e);
    }
  }

  /** The directory of the tables' directories. */
  public Path tables() {
    return new Path(root, "tables");
  }

  /** The directory of the log directories of live servers. */
  public Path logs() {
    return new Path(root, "logs");
  }

  /** The directory of the log directories of fenced servers. */
  public Path recovery() {
    return new Path(root, "recovery");
  }

  /** The directory of the jobs' directories. */
  public Path bulk() {
    return new Path(root, "bulk");
  }

  /** The directory of the copy of the lock service's nodes. */
  Path lockService() {
    return new Path(root, "lock-service");
  }

  /** The directory of a table's tablets. */
  public Path table(TableId table) {
    return new Path(root, directory(table));
  }

  /** The same, relative to the root. */
  public static String directory(TableId table) {
    return "tables/" + table.value();
  }

  /** The log directory of a live server. */
  public Path logs(ServerId server) {
    return new Path(logs(), server.toString());
  }

  /** The log directory of a fenced server. */
  public Path recovery(ServerId server) {
    return new Path(recovery(), server.toString());
  }

  /** The path, relative to the root, of an SSTable that a tablet writes under an epoch. */
  public static String file(TabletId tablet, long epoch, long number) {
    return "tables/" + tablet.table() + "/" + tablet.name() + "/" + epoch + "-" + number + ".sst";
  }

  /** The full path of a file whose path is relative to the root. */
  public Path resolve(String path) {
    return new Path(root, path);
  }

  /** Whether there are directories of tables. */
  boolean hasTables(FileSystem fs) throws IOException {
    return !tableNames(fs).isEmpty();
  }

  /** The names of the tables' directories: ids of tables, unless somebody else made one. */
  List<String> tableNames(FileSystem fs) throws IOException {
    return Arrays.stream(fs.listStatus(tables())).map(found -> found.getPath().getName()).toList();
  }

  /** Whether anything was ever stored here. */
  boolean hasData(FileSystem fs) throws IOException {
    return hasTables(fs)
        || fs.listStatus(logs()).length > 0
        || fs.listStatus(recovery()).length > 0;
  }
}
