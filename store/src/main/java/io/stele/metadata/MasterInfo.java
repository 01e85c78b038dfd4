package io.stele.metadata;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.wire.Address;
import java.io.IOException;
import java.util.Optional;

/**
 * The data of the master's lock: the active master's address. It is deleted with the lock, so a
 * master that lost it never hides its successor.
 *
 * @param process which process; without spaces
 * @param address where its control plane listens; empty until it serves
 */
public record MasterInfo(String process, Optional<Address> address) {
  public MasterInfo {
    if (process.isEmpty() || process.contains(" ")) {
      throw new IllegalArgumentException("\"" + process + "\" cannot name a master process");
    }
  }

  /** Whether the process runs, or ran, in that YARN container. */
  public boolean isIn(String container) {
    return process.startsWith(container + "_");
  }

  /** The data of the lock's node. */
  public Bytes encode() {
    return Bytes.of(process + address.map(serving -> " " + serving).orElse(""));
  }

  /** Reads what {@link #encode} wrote. */
  public static MasterInfo decode(Bytes data) throws CorruptionException {
    String text = data.toUtf8();
    int space = text.indexOf(' ');
    try {
      return space < 0
          ? new MasterInfo(text, Optional.empty())
          : new MasterInfo(
              text.substring(0, space), Optional.of(Address.parse(text.substring(space + 1))));
    } catch (IllegalArgumentException e) {
      CorruptionException damaged =
          new CorruptionException(
              "ZooKeeper node " + LockPaths.MASTER, 0, String.valueOf(e.getMessage()));
      damaged.initCause(e);
      throw damaged;
    }
  }

  /** Where the active master's control plane listens; empty if none serves. */
  public static Optional<Address> address(LockService locks) throws IOException {
    Optional<VersionedData> lock = locks.read(LockPaths.MASTER);
    return lock.isPresent() ? decode(lock.get().data()).address() : Optional.empty();
  }
}
