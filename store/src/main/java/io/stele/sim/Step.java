package io.stele.sim;

/** A step of a process at which a trap can stop it. */
enum Step {
  CREATE,
  WRITE,
  FLUSH,
  CLOSE,
  DELETE,
  OPEN,
  /** Any call of the lock service. */
  LOCKS,
  /** A request to another process. */
  REQUEST,
  /** A read that goes on at another tablet of the table that the process last read. */
  NEXT_TABLET
}
