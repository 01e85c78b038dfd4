package io.stele.inputformat;

import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.QueryProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/**
 * What a job reads of one table; in its configuration as {@code table:base64(query)}.
 *
 * @param table the table's name
 * @param query which rows, and what of them
 */
record TableScan(String table, RowQuery query) {
  /** Where the scans of a job are, separated by commas. */
  static final String KEY = "mapreduce.stele.input.scans";

  /** Adds a scan to a job's. */
  static void add(Configuration conf, TableScan scan) {
    String before = conf.get(KEY, "");
    conf.set(KEY, before.isEmpty() ? scan.encode() : before + "," + scan.encode());
  }

  /**
   * The scans of a job.
   *
   * @throws SteleException REFUSED if it has none
   */
  static List<TableScan> all(Configuration conf) throws IOException {
    List<TableScan> scans = new ArrayList<>();
    for (String text : conf.getTrimmedStrings(KEY)) {
      scans.add(decode(text));
    }
    if (scans.isEmpty()) {
      throw SteleException.refused(
          "the job has TableInputFormat but no table to read: call TableInputFormat.addTable");
    }
    return scans;
  }

  private String encode() {
    byte[] message = QueryCodec.encode(query).toByteArray();
    return table + ":" + Base64.getEncoder().encodeToString(message);
  }

  private static TableScan decode(String text) throws IOException {
    int colon = text.indexOf(':');
    byte[] message = Base64.getDecoder().decode(text.substring(colon + 1));
    return new TableScan(
        text.substring(0, colon), QueryCodec.decode(QueryProto.parseFrom(message)));
  }
}
