package io.stele.master;

import io.stele.files.AccessLists;
import io.stele.files.DurableFiles;
import io.stele.files.Listings;
import io.stele.files.NameSpace;
import io.stele.metadata.Layout;
import io.stele.metadata.Schemas;
import io.stele.metadata.StoredTable;
import io.stele.model.Principal;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.IoFunction;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.security.AccessControlException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the files of tables the readers that their schemas name: the table's directory first, which
 * closes everything below it to others at once, then each tablet's directory and its files. What is
 * made in a directory later has its readers.
 *
 * <p>Any master may do this at any time, even a deposed one: the readers come from the table's
 * node, which is read again after each directory. If they were changed meanwhile, the directory is
 * done again. Safe for use by any number of threads.
 */
final class TableReaders {
  private static final Logger LOG = LoggerFactory.getLogger(TableReaders.class);

  private final FileSystem fs;
  private final Layout layout;
  private final Schemas schemas;
  private final AccessLists lists;

  TableReaders(FileSystem fs, Layout layout, Schemas schemas) {
    this.fs = fs;
    this.layout = layout;
    this.schemas = schemas;
    this.lists = new AccessLists(fs);
  }

  /** Why a table cannot have the readers of {@code schema}, if so. */
  Optional<String> whyNot(TableSchema schema) throws IOException {
    if (schema.readers().isEmpty() || lists.areKept(layout.root())) {
      return Optional.empty();
    }
    return Optional.of(
        "table "
            + schema.name()
            + " cannot have readers, as "
            + fs.getUri()
            + " keeps no access control lists: on HDFS, set dfs.namenode.acls.enabled to true; on"
            + " another file system, use its own permissions and name no readers");
  }

  /** Gives all files of a table its readers. Repeating it changes nothing. */
  void apply(TableId table) throws IOException {
    if (!lists.areKept(layout.root())) {
      return;
    }
    Path directory = layout.table(table);
    if (readers(table).filter(readers -> !readers.isEmpty()).isPresent()) {
      new DurableFiles(fs).mkdirs(directory);
    }
    applyTo(
        table,
        readers -> {
          lists.letReadDirectory(directory, readers);
          return List.of();
        });
    NameSpace.catchUp(fs, directory); // Tablet servers have made what is listed now.
    for (FileStatus tablet : Listings.of(fs, directory)) {
      applyTo(
          table,
          readers -> {
            lists.letReadDirectory(tablet.getPath(), readers);
            return Listings.of(fs, tablet.getPath());
          });
    }
  }

  /**
   * Gives a directory readers, and the files in it.
   *
   * @param change gives the directory these readers; returns the files that must get them too
   */
  private void applyTo(TableId table, IoFunction<List<Principal>, List<FileStatus>> change)
      throws IOException {
    Optional<List<Principal>> readers = readers(table);
    while (readers.isPresent()) {
      try {
        for (FileStatus file : change.apply(readers.get())) {
          applyTo(file.getPath(), readers.get());
        }
      } catch (FileNotFoundException e) {
        LOG.debug("A directory of table {} is gone, or not there yet", table, e);
      }
      Optional<List<Principal>> after = readers(table);
      if (after.equals(readers)) {
        return;
      }
      readers = after;
    }
  }

  private void applyTo(Path file, List<Principal> readers) throws IOException {
    try {
      lists.letReadFile(file, readers);
    } catch (FileNotFoundException e) {
      LOG.debug("{} was deleted meanwhile", file, e);
    } catch (AccessControlException e) {
      LOG.info("{} keeps its readers until it is compacted: {}", file, e.getMessage());
    }
  }

  private Optional<List<Principal>> readers(TableId table) throws IOException {
    return schemas.table(table).map(StoredTable::schema).map(TableSchema::readers);
  }
}
