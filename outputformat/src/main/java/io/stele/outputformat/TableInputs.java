package io.stele.outputformat;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;

/** Whether a job's configuration says that it reads tables. */
final class TableInputs {
  /** As they are named in configurations: this module does not depend on the one of inputs. */
  private static final String FORMAT = "io.stele.inputformat.TableInputFormat";

  private static final String SEVERAL =
      "org.apache.hadoop.mapreduce.lib.input.DelegatingInputFormat";

  /** As {@code MultipleInputs} has it: {@code path;format}, separated by commas. */
  static final String SEVERAL_KEY = "mapreduce.input.multipleinputs.dir.formats";

  private TableInputs() {}

  /** Whether the job reads tables, alone or beside files. */
  static boolean areRead(Configuration conf) {
    return format(conf).equals(FORMAT) || (hasSeveral(conf) && isAmongSeveral(conf));
  }

  /** Whether the job reads the paths of {@code MultipleInputs}. */
  static boolean hasSeveral(Configuration conf) {
    return format(conf).equals(SEVERAL);
  }

  /** Whether one of the paths of {@code MultipleInputs} is for tables. */
  static boolean isAmongSeveral(Configuration conf) {
    return conf.get(SEVERAL_KEY, "").contains(";" + FORMAT);
  }

  private static String format(Configuration conf) {
    return conf.getTrimmed(MRJobConfig.INPUT_FORMAT_CLASS_ATTR, "");
  }
}
