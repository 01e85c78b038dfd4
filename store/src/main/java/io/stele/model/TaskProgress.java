package io.stele.model;

import java.util.Optional;

/**
 * What an attempt of a task states with each request, besides its operations.
 *
 * @param job the task's job: the task's operations are remembered as long as that job lives; empty:
 *     as long as any client's operations
 * @param settled which of the task's records need not be remembered one by one
 */
public record TaskProgress(Optional<String> job, Settled settled) {}
