/**
 * Tables as MapReduce input: {@link io.stele.inputformat.TableInputFormat}. Public API; classes
 * that are not public are internal.
 */
package io.stele.inputformat;
