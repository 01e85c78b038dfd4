package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.avro.Schema;
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
}
