/**
 * What the example programs share, and {@link io.stele.examples.Examples}, which runs each of them
 * by its name.
 */
package io.stele.examples;
