/**
 * JMH benchmarks of the store's inner loops; {@code docs/performance.md} has the commands and the
 * figures.
 */
package io.stele.benchmarks;
