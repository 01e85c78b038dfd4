package io.stele.examples.analytics;

import io.stele.mapreduce.RecordMapping;
import io.stele.model.TableSchema;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.reflect.AvroMeta;

/**
 * What happened at a site on a day: a row of the table of summaries.
 *
 * <pre>
 * row                         day:sessions   day:visitors   ...   views:/cart   buyers:/cart
 * com.example.s03 2026-01-05  1204           1102                 310           205
 * </pre>
 */
@AvroMeta(key = "stele", value = "day")
final class SiteDay {
  static final RecordMapping<SiteDay> MAPPING = RecordMapping.of(SiteDay.class);

  /** The site and the day, with a blank between. */
  @AvroMeta(key = "stele", value = "ROW")
  String siteAndDay = "";

  long sessions;
  long clicks;
  long visitors;

  /** The median duration of sessions, from the first click to the last. */
  long medianMillis;

  /** How often each page was viewed. */
  @AvroMeta(key = "stele", value = "views:*")
  Map<String, Long> views = new TreeMap<>();

  /** How many visitors viewed each page. */
  @AvroMeta(key = "stele", value = "viewers:*")
  Map<String, Long> viewers = new TreeMap<>();

  /** How many of them bought something later on that day. */
  @AvroMeta(key = "stele", value = "buyers:*")
  Map<String, Long> buyers = new TreeMap<>();

  /** The schema of the table of summaries. */
  static TableSchema schema(String table) {
    return TableSchema.of(table, "day", "views", "viewers", "buyers");
  }

  String site() {
    return siteAndDay.substring(0, siteAndDay.indexOf(' '));
  }

  String day() {
    return siteAndDay.substring(siteAndDay.indexOf(' ') + 1);
  }
}
