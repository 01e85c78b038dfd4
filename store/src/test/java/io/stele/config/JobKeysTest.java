package io.stele.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class JobKeysTest {
  private static Configuration of(String key) {
    Configuration conf = new Configuration(false);
    conf.set(key, "some");
    return conf;
  }

  private static void refused(String key, String nearest) {
    assertThatThrownBy(() -> JobKeys.check(of(key)))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("there is no key " + key + " (value \"some\", set by the program)")
        .hasMessageContaining("did you mean " + nearest + "?");
  }

  @Test
  void anUnknownKeyIsRefusedWithTheNearestOneThatPeopleSet() {
    refused("mapreduce.stele.output.bulk.replaces", "mapreduce.stele.output.bulk.replace");
    refused("mapreduce.stele.output.bulk.replace.id", "mapreduce.stele.output.bulk.replace");
    refused("mapreduce.stele.input.modus", "mapreduce.stele.input.mode");
    refused("mapreduce.stele.input.table.family", "mapreduce.stele.input.table.families");
    refused("mapreduce.stele.input.table.rows.prefx", "mapreduce.stele.input.table.rows.prefix");
    refused("mapreduce.stele.lease", "mapreduce.stele.output.lease");
  }

  @Test
  void aSizeOutOfBoundsIsRefusedWithTheKey() {
    Configuration conf = new Configuration(false);
    assertThat(JobKeys.bytes(conf, "key", "1m", "1t", 7)).isEqualTo(7);
    conf.set("key", " 128m ");
    assertThat(JobKeys.bytes(conf, "key", "1m", "1t", 7)).isEqualTo(128 << 20);
    for (String wrong : List.of("128MB", "0", "-1", "1k", "2t", "much")) {
      conf.set("key", wrong);
      assertThatThrownBy(() -> JobKeys.bytes(conf, "key", "1m", "1t", 7))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining(
              "key is \"" + wrong + "\": set a size from 1 MB to 1 TB, such as 128m");
    }
    assertThatThrownBy(() -> JobKeys.bytes(conf, "key", "1", "1e", 7))
        .hasMessageContaining("set a size from 1 byte to 1 EB,");
  }

  @Test
  void everyKeyThatPeopleSetIsDescribed() {
    assertThat(JobKeyDocs.byName().keySet()).isEqualTo(JobKeys.names());
    assertThat(JobKeyDocs.byName().values())
        .allSatisfy(doc -> assertThat(doc.text()).matches("(?s)[A-Z].*\\."));
  }

  @Test
  void keysOfFormatsOfJobsAndOfHadoopAreTaken() {
    for (String key :
        new String[] {
          JobKeys.INPUT_FILTER,
          JobKeys.BULK_REPLACE,
          JobKeys.Internal.BULK_REPLACE_IDS,
          JobKeys.Internal.TEXT_SKIP,
          JobKeys.Internal.OUTPUT_TABLE_ID + "webtable",
          "mapreduce.job.name"
        }) {
      assertThatCode(() -> JobKeys.check(of(key))).as(key).doesNotThrowAnyException();
    }
  }
}
