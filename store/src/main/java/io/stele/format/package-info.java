/**
 * Bytes that disk and wire share: column keys, cell blocks, variable-length integers, checksums,
 * codecs. Internal.
 *
 * <p>Input may be damaged or hostile: decoders check every length before they use it.
 */
package io.stele.format;
