package io.stele.files;

import java.io.IOException;
import java.util.List;

/** A stream that knows where what it writes goes; {@link DurableFile} asks it. */
public interface ReplicatedStream {
  /** How many replicas the block being written has now. */
  int replicas() throws IOException;

  /** The nodes with them, the first to get the data first; empty if they are not known now. */
  List<String> nodes();
}
