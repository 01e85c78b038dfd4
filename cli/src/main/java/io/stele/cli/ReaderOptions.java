package io.stele.cli;

import io.stele.model.Principal;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Options of a command that changes who may read a table's files. */
final class ReaderOptions {
  @Option(
      names = "--reader",
      paramLabel = "PRINCIPAL",
      description =
          "Let a user (user:NAME) or a group (group:NAME) read the table's files; may be repeated."
              + " If any reader is named, only the readers and the store's own user can read the files.")
  private List<Principal> added = List.of();

  @Option(
      names = "--drop-reader",
      paramLabel = "PRINCIPAL",
      description =
          "Stop letting a user or group read the table's files; may be repeated. When the last reader is"
              + " dropped, HDFS's usual permissions hold again, for existing files too.")
  private List<Principal> dropped = List.of();

  boolean isEmpty() {
    return added.isEmpty() && dropped.isEmpty();
  }

  /** The readers of {@code before} with these changes. */
  List<Principal> change(TableSchema before) {
    List<Principal> readers = new ArrayList<>(before.readers());
    readers.addAll(added);
    for (Principal reader : dropped) {
      if (!before.readers().contains(reader)) {
        throw SteleException.notFound(
            reader + " is not a reader of table " + before.name() + ": it has " + before.readers());
      }
      readers.removeIf(reader::equals);
    }
    return readers;
  }
}
