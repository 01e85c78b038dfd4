package io.stele.client;

import io.stele.model.TableId;
import java.time.Duration;

/**
 * A table as calls about it name it.
 *
 * @param id its id
 * @param name its name, for messages
 * @param timeout how long an operation on it is tried
 */
record TableRef(TableId id, String name, Duration timeout) {}
