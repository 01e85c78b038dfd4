/**
 * Jobs over tables: {@link io.stele.mapreduce.SteleJob} sets one up, and {@code jobs} has
 * ready-made ones. Public API; classes that are not public are internal.
 */
package io.stele.mapreduce;
