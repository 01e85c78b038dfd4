/**
 * The parts of a tablet's durable record, as plain values: the engine changes them, {@code
 * metadata} stores them. Internal.
 */
package io.stele.record;
