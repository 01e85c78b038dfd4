package io.stele.files;

import java.io.IOException;
import java.util.Optional;

/** A stream that knows where what it writes goes; {@link DurableFile} asks it. */
public interface ReplicatedStream {
  /** How many replicas the block being written has now. */
  int replicas() throws IOException;

  /** The node with the first of them, if there is one. */
  Optional<String> firstNode();
}
