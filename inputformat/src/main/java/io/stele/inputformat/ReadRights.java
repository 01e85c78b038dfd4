package io.stele.inputformat;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.SteleException;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;

/** Whether the user who submits a job may read a table's files, as the file system says. */
final class ReadRights {
  private ReadRights() {}

  /**
   * Refuses a user who may not read the table's directory. It does not look at single files.
   *
   * @throws SteleException REFUSED
   */
  static void check(Stele stele, String name) throws IOException {
    Table table = stele.table(name);
    Path directory = stele.jobs().environment().directory(table.id());
    try {
      stele.jobs().environment().files().access(directory, FsAction.READ_EXECUTE);
    } catch (AccessControlException e) {
      throw refused(name, directory, e);
    } catch (FileNotFoundException e) {
      return; // The table has no files yet, and its files no readers.
    }
  }

  /** The answer to a user who may not read a file or directory of a table. */
  static SteleException refused(String table, Path path, AccessControlException why)
      throws IOException {
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    return new SteleException(
        SteleException.Code.REFUSED,
        "a job of user "
            + user
            + " cannot read table "
            + table
            + " directly: it may not read "
            + path
            + ". Make the user a reader of the table's files: `stele table alter "
            + table
            + " --reader user:"
            + user
            + "`; if it is one, rewrite files that a job has written: `stele table compact "
            + table
            + "`; or set "
            + TableInputFormat.MODE_KEY
            + " to served",
        why);
  }
}
