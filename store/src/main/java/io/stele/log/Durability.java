package io.stele.log;

/** When a record counts as written. */
public enum Durability {
  /** In the memory of every live replica: survives the death of processes. */
  HFLUSH,
  /** On disk at every live replica: survives a loss of power too. */
  HSYNC
}
