package io.stele.bulk;

import io.stele.metadata.JobFileRefs;
import io.stele.model.TableId;
import io.stele.record.FileRef;
import io.stele.wire.control.ControlProtos.JobFileListProto;
import io.stele.wire.control.ControlProtos.JobFileProto;
import io.stele.wire.control.ControlProtos.TableFilesProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A list of files by table, as bytes: a {@link Checksummed} {@code JobFileListProto}. */
final class FileList {
  private FileList() {}

  static byte[] encode(Map<TableId, List<FileRef>> files) {
    JobFileListProto.Builder list = JobFileListProto.newBuilder();
    new TreeMap<>(files)
        .forEach(
            (table, ofTable) -> {
              TableFilesProto.Builder one = TableFilesProto.newBuilder().setTable(table.value());
              ofTable.forEach(file -> one.addFiles(JobFileRefs.encode(file)));
              list.addTables(one);
            });
    return Checksummed.encode(list.build());
  }

  /**
   * Reads a list.
   *
   * @param job whose files they must be
   * @param where what to name if it cannot be read
   */
  static Map<TableId, List<FileRef>> decode(String job, byte[] bytes, String where)
      throws IOException {
    JobFileListProto list = JobFileListProto.parseFrom(Checksummed.message(bytes, where));
    Map<TableId, List<FileRef>> files = new TreeMap<>();
    for (TableFilesProto table : list.getTablesList()) {
      List<FileRef> ofTable = new ArrayList<>();
      for (JobFileProto file : table.getFilesList()) {
        ofTable.add(JobFileRefs.decode(job, file).file());
      }
      files.put(new TableId(table.getTable()), ofTable);
    }
    return files;
  }
}
