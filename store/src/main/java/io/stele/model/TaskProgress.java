package io.stele.model;

import java.util.Optional;

/**
 * What an attempt of a task says with each request, beside its operations.
 *
 * @param job for which the task works: what it wrote is remembered as long as that job lives;
 *     empty: as long as any client's operations
 * @param settled what of the task's records need not be remembered one by one
 */
public record TaskProgress(Optional<String> job, Settled settled) {}
