package io.stele.lock;

import io.stele.model.Bytes;

/**
 * What a node of the lock service held when it was read.
 *
 * @param data its bytes
 * @param version how often it was written since it was created: 0 for a new one; a node that is
 *     deleted and created again starts at 0
 */
public record VersionedData(Bytes data, int version) {}
