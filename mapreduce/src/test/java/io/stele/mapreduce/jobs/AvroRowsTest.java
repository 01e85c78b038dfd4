package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.mapreduce.AvroJob;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.Test;

class AvroRowsTest {
  @Test
  void hadoopLeavesWhatLooksLikeAVariableInASchemaAsItIs() throws Exception {
    Schema schema =
        new Schema.Parser()
            .parse(
                "{\"type\": \"record\", \"name\": \"Person\", \"fields\": ["
                    + "{\"name\": \"a\", \"type\": \"string\", \"stele\": \"f:${user.name}\","
                    + " \"default\": \"$1 \\\\$2\"}]}");
    Job job = Job.getInstance(new Configuration(false));
    AvroJob.setInputKeySchema(job, schema);
    AvroJob.setOutputKeySchema(job, schema);
    AvroRows.keepVariables(job.getConfiguration(), AvroRows.INPUT_SCHEMA_KEY);
    AvroRows.keepVariables(job.getConfiguration(), AvroRows.OUTPUT_SCHEMA_KEY);
    assertThat(AvroJob.getInputKeySchema(job.getConfiguration())).isEqualTo(schema);
    assertThat(AvroJob.getOutputKeySchema(job.getConfiguration())).isEqualTo(schema);
  }

  @Test
  void aTimestampBelowZeroIsRefused() {
    Row row = new Row(Bytes.of("r"), List.of(new Cell("f", Bytes.of("q"), 0, Bytes.of("v"))));
    GenericRecord record = AvroRows.encode(row);
    assertThat(AvroRows.decode(record)).isEqualTo(row);
    // Programs that know no time write this; as a put it would get the time of the import.
    ((GenericRecord) ((List<?>) record.get("cells")).get(0)).put("timestamp", -1L);
    assertThatThrownBy(() -> AvroRows.decode(record))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("a cell of row \"r\" has timestamp -1");
  }
}
