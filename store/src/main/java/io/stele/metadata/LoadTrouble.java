package io.stele.metadata;

import io.stele.metadata.avro.TroubleValue;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.ServerId;

/**
 * Why a tablet could not be loaded: kept in its record until it is.
 *
 * @param reason why the last server could not
 * @param server the last one
 * @param sinceMillis when it failed first, in milliseconds since 1970
 * @param failures how often it failed for a reason that lies in the tablet itself
 * @param quarantined whether it is not assigned until an operator releases it
 */
public record LoadTrouble(
    String reason, ServerId server, long sinceMillis, int failures, boolean quarantined) {
  Bytes encode() {
    return Avro.encode(
        TroubleValue.newBuilder()
            .setReason(reason)
            .setServer(server.toString())
            .setSinceMillis(sinceMillis)
            .setFailures(failures)
            .setQuarantined(quarantined)
            .build());
  }

  static LoadTrouble decode(Bytes bytes, String where) throws CorruptionException {
    return Avro.decode(
        bytes,
        TroubleValue.class,
        where,
        value ->
            new LoadTrouble(
                value.getReason(),
                ServerId.parse(value.getServer()),
                value.getSinceMillis(),
                value.getFailures(),
                value.getQuarantined()));
  }
}
