package io.stele.bulk;

import io.stele.format.Crc32c;
import io.stele.metadata.JobFileRefs;
import io.stele.model.CorruptionException;
import io.stele.model.TableId;
import io.stele.record.FileRef;
import io.stele.wire.control.ControlProtos.JobFileListProto;
import io.stele.wire.control.ControlProtos.JobFileProto;
import io.stele.wire.control.ControlProtos.TableFilesProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A list of files by table, as bytes: a {@code JobFileListProto} and its CRC-32C, four bytes,
 * big-endian.
 */
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
    byte[] message = list.build().toByteArray();
    return ByteBuffer.allocate(message.length + Integer.BYTES)
        .put(message)
        .putInt(Crc32c.of(message, 0, message.length))
        .array();
  }

  /**
   * Reads a list.
   *
   * @param job whose files they must be
   * @param where what to name if it cannot be read
   */
  static Map<TableId, List<FileRef>> decode(String job, byte[] bytes, String where)
      throws IOException {
    int length = bytes.length - Integer.BYTES;
    if (length < 0 || ByteBuffer.wrap(bytes).getInt(length) != Crc32c.of(bytes, 0, length)) {
      throw new CorruptionException(where, 0, "its checksum is wrong");
    }
    JobFileListProto list = JobFileListProto.parseFrom(ByteBuffer.wrap(bytes, 0, length).slice());
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
