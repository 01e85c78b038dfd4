package io.stele.metadata;

/**
 * The two tablets that one has become: both loaded, by the server that had it, under the epoch
 * after its own.
 *
 * @param lower the rows below the split row
 * @param upper the rest
 */
public record SplitResult(TabletRecord lower, TabletRecord upper) {}
