package io.stele.mapreduce.jobs;

import io.stele.model.RowQuery;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.QueryProto;
import java.io.IOException;
import java.util.Base64;
import org.apache.hadoop.conf.Configuration;

/** A query in a job's configuration. */
final class QueryText {
  private QueryText() {}

  static void put(Configuration conf, String key, RowQuery query) {
    conf.set(key, Base64.getEncoder().encodeToString(QueryCodec.encode(query).toByteArray()));
  }

  static RowQuery get(Configuration conf, String key) throws IOException {
    byte[] message = Base64.getDecoder().decode(conf.getTrimmed(key, ""));
    return QueryCodec.decode(QueryProto.parseFrom(message));
  }
}
