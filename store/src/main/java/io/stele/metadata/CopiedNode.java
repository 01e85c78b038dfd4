package io.stele.metadata;

import io.stele.lock.VersionedData;
import io.stele.model.Bytes;

/**
 * What a copy has of a node of the lock service.
 *
 * @param data its bytes
 * @param version how often it had been written
 * @param change of a job: when it was last changed, as the lock service counts; otherwise 0
 */
public record CopiedNode(Bytes data, int version, long change) {
  static CopiedNode of(VersionedData node) {
    return new CopiedNode(node.data(), node.version(), 0);
  }
}
