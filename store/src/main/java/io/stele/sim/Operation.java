package io.stele.sim;

/** What a {@link CrashableFileSystem} is asked to do, as far as faults can be injected. */
public enum Operation {
  CREATE,
  OPEN,
  READ,
  WRITE,
  /** An hflush or hsync. */
  FLUSH,
  /** Of a stream that writes or reads. */
  CLOSE,
  RENAME,
  DELETE,
  LIST,
  STATUS,
  MKDIRS
}
