package io.stele.config;

import io.stele.model.Amount;
import io.stele.model.SteleException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;

/**
 * The names of all keys {@code mapreduce.stele.*} in the configuration of a job. The classes that
 * read them say what their values mean, and docs/mapreduce.md describes those that people set. They
 * are together here so that a name which is none of them is refused, whichever format looks.
 */
public final class JobKeys {
  private static final String PREFIX = "mapreduce.stele.";
  private static final String INPUT = PREFIX + "input.";
  private static final String OUTPUT = PREFIX + "output.";
  private static final String BULK = OUTPUT + "bulk.";
  private static final String JOBS = PREFIX + "job.";

  // What is read.
  public static final String INPUT_TABLE = INPUT + "table";
  public static final String INPUT_FAMILIES = INPUT_TABLE + ".families";
  public static final String INPUT_COLUMNS = INPUT_TABLE + ".columns";
  public static final String INPUT_ROWS_PREFIX = INPUT_TABLE + ".rows.prefix";
  public static final String INPUT_ROWS_START = INPUT_TABLE + ".rows.start";
  public static final String INPUT_ROWS_END = INPUT_TABLE + ".rows.end";
  public static final String INPUT_ROWS_RANGES = INPUT_TABLE + ".rows.ranges";
  public static final String INPUT_VERSIONS = INPUT_TABLE + ".versions";
  public static final String INPUT_TIMES_FROM = INPUT_TABLE + ".times.from";
  public static final String INPUT_TIMES_TO = INPUT_TABLE + ".times.to";
  public static final String INPUT_FILTER = INPUT_TABLE + ".filter";

  // How it is read.
  public static final String INPUT_SPLIT_BYTES = INPUT + "split.bytes";
  public static final String INPUT_READ = INPUT + "read";
  public static final String INPUT_MODE = INPUT + "mode";
  public static final String INPUT_PINNED_LEASE = INPUT + "pinned.lease";

  // What is written, and how.
  public static final String OUTPUT_LEASE = OUTPUT + "lease";
  public static final String OUTPUT_SUBMISSION = OUTPUT + "submission";
  public static final String OUTPUT_LATEST_ALLOWED = OUTPUT + "latest.allowed";
  public static final String OUTPUT_TASK_TABLETS = OUTPUT + "task.tablets";
  public static final String BULK_LEASE = BULK + "lease";
  public static final String BULK_REPLACE = BULK + "replace";
  public static final String BULK_REDUCER_BYTES = BULK + "reducer.bytes";
  public static final String BULK_SORT = BULK + "sort";
  public static final String BULK_SORT_BYTES = BULK_SORT + ".bytes";
  public static final String BULK_TABLET_BYTES = BULK + "tablet.bytes";

  private static final Set<String> SETTABLE = namesIn(JobKeys.class);
  private static final Set<String> INTERNAL = namesIn(Internal.class);

  private JobKeys() {}

  /** Keys that formats and ready-made jobs set for their own tasks; nobody else does. */
  public static final class Internal {
    public static final String INPUT_SCANS = INPUT + "scans";
    public static final String INPUT_SCANS_SUBMITTED = INPUT_SCANS + ".submitted";
    public static final String INPUT_PINNED_BESIDE = INPUT + "pinned.beside";
    public static final String INPUT_PINNED_BESIDE_SUBMITTED = INPUT_PINNED_BESIDE + ".submitted";
    public static final String OUTPUT_TABLES = OUTPUT + "tables";
    public static final String OUTPUT_TABLES_SUBMITTED = OUTPUT_TABLES + ".submitted";

    /** The name of a table follows. */
    public static final String OUTPUT_TABLE_ID = OUTPUT + "table.id.";

    public static final String OUTPUT_JOB = OUTPUT + "job";
    public static final String SUBMITTED_OUTPUT = PREFIX + "submitted.output";
    public static final String OUTPUT_REDUCER = OUTPUT + "reducer";
    public static final String BULK_JOB = BULK + "job";
    public static final String BULK_TIMESTAMP = BULK + "timestamp";
    public static final String BULK_VALUE_BYTES = BULK + "value.bytes";
    public static final String BULK_CUT = BULK + "cut";
    public static final String BULK_DIVIDE = BULK + "divide";
    public static final String BULK_STARTS = BULK + "starts";
    public static final String BULK_REPLACE_IDS = BULK_REPLACE + ".ids";
    public static final String BULK_REPLACE_SUBMITTED = BULK_REPLACE + ".submitted";
    public static final String VERIFY_QUERY = JOBS + "verify.query";
    public static final String AVRO_REPLACE = JOBS + "avro.replace";
    public static final String COMPARE_WITH = JOBS + "compare.with";
    public static final String COMPARE_WITH_ID = COMPARE_WITH + ".id";
    public static final String COMPARE_QUERY = JOBS + "compare.query";
    public static final String LISTS_ACKNOWLEDGED = JOBS + "lists.acknowledged";
    public static final String STATS_PREFIX_BYTES = JOBS + "stats.prefix.bytes";
    public static final String TEXT_FIELDS = JOBS + "text.fields";
    public static final String TEXT_SEPARATOR = JOBS + "text.separator";
    public static final String TEXT_SKIP = JOBS + "text.skip";
    public static final String TEXT_FORMAT = JOBS + "text.format";

    private Internal() {}
  }

  /** The names of the keys that people set, in order. */
  public static Set<String> names() {
    return SETTABLE;
  }

  /**
   * Refuses a configuration with an unknown key {@code mapreduce.stele.*}: what it was to change
   * would silently stay as it is.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}, with the key, its value, and the
   *     nearest key that there is
   */
  public static void check(Configuration conf) {
    for (Map.Entry<String, String> entry : conf) {
      String name = entry.getKey();
      if (name.startsWith(PREFIX) && !isKnown(name)) {
        throw SteleException.refused(
            "there is no key "
                + name
                + " (value \""
                + entry.getValue()
                + "\", "
                + Key.source(conf, name)
                + "); did you mean "
                + Keys.nearest(name, SETTABLE)
                + "? Correct or remove it");
      }
    }
  }

  /**
   * The value of a key that is a size, in bytes.
   *
   * @param least the smallest value, such as {@code 1m}
   * @param most the largest value, such as {@code 1t}
   * @param ifUnset the value if the key is not set
   * @throws SteleException REFUSED, naming the key, if the value is not a size, or out of bounds
   */
  public static long bytes(
      Configuration conf, String key, String least, String most, long ifUnset) {
    String text = conf.getTrimmed(key, "");
    if (text.isEmpty()) {
      return ifUnset;
    }
    String bounds =
        key
            + " is \""
            + text
            + "\": set a size from "
            + inWords(least)
            + " to "
            + inWords(most)
            + ", such as 128m";
    long bytes;
    try {
      bytes = SizeText.parse(text);
    } catch (SteleException e) {
      throw new SteleException(SteleException.Code.REFUSED, bounds + ": it is not a size", e);
    }
    if (bytes < SizeText.parse(least) || bytes > SizeText.parse(most)) {
      throw SteleException.refused(bounds);
    }
    return bytes;
  }

  /** A size such as {@code 1m} as {@code 1 MB}. */
  private static String inWords(String size) {
    int last = size.length() - 1;
    return Character.isDigit(size.charAt(last))
        ? Amount.of(Long.parseLong(size), "byte")
        : size.substring(0, last) + " " + size.substring(last).toUpperCase(Locale.ROOT) + "B";
  }

  private static boolean isKnown(String name) {
    return SETTABLE.contains(name)
        || INTERNAL.contains(name)
        || name.startsWith(Internal.OUTPUT_TABLE_ID);
  }

  private static Set<String> namesIn(Class<?> keys) {
    Set<String> names = new TreeSet<>();
    for (Field field : keys.getFields()) {
      if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
        try {
          names.add((String) field.get(null));
        } catch (IllegalAccessException e) {
          throw new AssertionError(e); // The field is public.
        }
      }
    }
    return Collections.unmodifiableSet(names); // In order: the same nearest one each time.
  }
}
