package io.stele.examples.earth;

import io.stele.mapreduce.RecordMapping;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.TableSchema;
import java.util.List;
import org.apache.avro.reflect.AvroMeta;

/**
 * Where a tile is: a row of the index, which tablet servers keep in memory. The tiles themselves
 * are in files.
 *
 * <pre>
 * row   at:file                         at:offset   at:length
 * 0312  hdfs://nn/tiles/3f1c.../r-4     918273      734
 * </pre>
 */
@AvroMeta(key = "stele", value = "at")
final class TilePlace {
  static final String AT = "at";
  static final RecordMapping<TilePlace> MAPPING = RecordMapping.of(TilePlace.class);

  /** The segment's key. */
  @AvroMeta(key = "stele", value = "ROW")
  String segment = "";

  String file = "";
  long offset;
  int length;

  /** The schema of the index. */
  static TableSchema schema(String table) {
    return TableSchema.of(
        table,
        List.of(ColumnFamily.of(AT).in("memory")),
        LocalityGroup.of("memory").withInMemory(true));
  }
}
