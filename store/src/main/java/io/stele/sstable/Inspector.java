package io.stele.sstable;

public class Inspector {
  Inspector(StoredFile f, Sink s) {}

  interface Sink {
    void problem(long o, String d) throws java.io.IOException;
  }

  void run() throws java.io.IOException {}
}
