package io.stele.bulk;

import io.stele.client.Stele;
import io.stele.client.SubmittedOutput;
import io.stele.client.Table;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.record.PinnedTablet;
import io.stele.record.PutTimestamps;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.InputPinsProto;
import io.stele.wire.control.ControlProtos.PinnedRowsProto;
import io.stele.wire.control.ControlProtos.PinnedTableProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * When the tables were pinned that an input of a job reads, if the job also writes files for them.
 * As bytes: a {@link Checksummed} {@code InputPinsProto}.
 */
public final class InputPins {
  private InputPins() {}

  /**
   * Notes it for the output of the MapReduce job that is being submitted, if that writes files for
   * any of {@code tables}.
   *
   * @param pin the job that has pinned them
   */
  public static void note(Stele stele, Configuration conf, String pin, Set<String> tables)
      throws IOException {
    Optional<String> output = SubmittedOutput.ofFiles(conf);
    if (output.isEmpty()) {
      return;
    }
    Map<TableId, List<PutTimestamps.Pinned>> input = new TreeMap<>();
    for (String name : tables) {
      if (SubmittedOutput.isWrittenTo(conf, name)) {
        Table table = stele.table(name).atPin(pin);
        input.put(table.id(), of(table));
      }
    }
    if (!input.isEmpty()) {
      new JobOutput(stele.jobs(), output.get()).notePins(input);
    }
  }

  /**
   * The rows of the tablets that are pinned, with the timestamps of their pins; but for those whose
   * pins have none, as servers of an earlier version make them.
   *
   * @param table at the pin
   */
  public static List<PutTimestamps.Pinned> of(Table table) throws IOException {
    List<PutTimestamps.Pinned> all = new ArrayList<>();
    for (PinnedTablet tablet : table.pinnedTablets().all()) {
      if (tablet.pin().timestampMicros() > 0) {
        all.add(new PutTimestamps.Pinned(tablet.rows(), tablet.pin().timestampMicros()));
      }
    }
    return all;
  }

  static byte[] encode(Map<TableId, List<PutTimestamps.Pinned>> input) {
    InputPinsProto.Builder all = InputPinsProto.newBuilder();
    input.forEach(
        (id, pinned) -> {
          PinnedTableProto.Builder table = PinnedTableProto.newBuilder().setTable(id.value());
          for (PutTimestamps.Pinned one : pinned) {
            table.addRows(
                PinnedRowsProto.newBuilder()
                    .setStartRow(ByteStrings.of(one.rows().start()))
                    .setEndRow(ByteStrings.of(one.rows().end()))
                    .setTimestamp(one.micros()));
          }
          all.addTables(table);
        });
    return Checksummed.encode(all.build());
  }

  /**
   * Reads it.
   *
   * @param where what to name if it cannot be read
   */
  static Map<TableId, List<PutTimestamps.Pinned>> decode(byte[] bytes, String where)
      throws IOException {
    Map<TableId, List<PutTimestamps.Pinned>> input = new TreeMap<>();
    for (PinnedTableProto table :
        InputPinsProto.parseFrom(Checksummed.message(bytes, where)).getTablesList()) {
      List<PutTimestamps.Pinned> pinned = new ArrayList<>();
      for (PinnedRowsProto one : table.getRowsList()) {
        RowRange rows = ByteStrings.range(one.getStartRow(), one.getEndRow());
        pinned.add(new PutTimestamps.Pinned(rows, one.getTimestamp()));
      }
      input.put(new TableId(table.getTable()), pinned);
    }
    return input;
  }
}
