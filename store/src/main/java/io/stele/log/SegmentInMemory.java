package io.stele.log;

import io.stele.format.MalformedException;
import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;

/**
 * A segment's records by tablet, in memory: small segments are not worth a sorted file, but to read
 * them anew for each of many tablets would take longer than all else that loading does.
 *
 * <p>Immutable; safe for use by any number of threads.
 */
final class SegmentInMemory implements SortedSegment {
  private final Segment segment;
  private final Optional<SegmentLink> link;
  private final long ended;
  private final Map<TabletId, List<byte[]>> bodies; // Of records, in the order of the segment.

  private SegmentInMemory(
      Segment segment, Optional<SegmentLink> link, long ended, Map<TabletId, List<byte[]>> bodies) {
    this.segment = segment;
    this.link = link;
    this.ended = ended;
    this.bodies = bodies;
  }

  /** About how much memory {@code segment} takes. */
  static long bytes(Segment segment) {
    return 2 * segment.lengthBytes(); // Records, and what each takes beside its bytes.
  }

  /**
   * Reads a segment of a fenced log.
   *
   * @throws CorruptionException if it is damaged in any way: a replay of the segment itself finds
   *     out which tablets that concerns
   * @throws IOException if it cannot be read
   */
  static SegmentInMemory read(FileSystem fs, Segment segment) throws IOException {
    Optional<CorruptionException> changed = FencedLog.changed(fs, segment);
    if (changed.isPresent()) {
      throw changed.get();
    }
    Optional<LogReader> opened = LogReader.open(fs, segment);
    if (opened.isEmpty()) {
      throw new CorruptionException(segment.path().toString(), 0, "it ends within its header");
    }
    try (LogReader reader = opened.get()) {
      Optional<SegmentLink> link = reader.link();
      Map<TabletId, List<byte[]>> bodies = new HashMap<>();
      for (Optional<EncodedRecord> next = reader.nextEncoded();
          next.isPresent();
          next = reader.nextEncoded()) {
        bodies
            .computeIfAbsent(next.get().tablet(), tablet -> new ArrayList<>())
            .add(next.get().body());
      }
      return new SegmentInMemory(segment, link, reader.position(), bodies);
    }
  }

  @Override
  public Optional<SegmentLink> link() {
    return link;
  }

  @Override
  public long ended() {
    return ended;
  }

  @Override
  public RecordSource records(TabletId tablet) {
    return new Records(bodies.getOrDefault(tablet, List.of()).iterator());
  }

  @Override
  public void close() {}

  private final class Records implements RecordSource {
    private final LogFormat.KnownTablets tablets = new LogFormat.KnownTablets();
    private final Iterator<byte[]> rest;

    Records(Iterator<byte[]> bodies) {
      this.rest = bodies;
    }

    @Override
    public Optional<LogRecord> next() throws IOException {
      if (!rest.hasNext()) {
        return Optional.empty();
      }
      try {
        return Optional.of(LogFormat.decodeBody(rest.next(), tablets));
      } catch (MalformedException e) {
        CorruptionException damage =
            new CorruptionException(
                segment.path().toString(), 0, "a record cannot be decoded: " + e.getMessage());
        damage.initCause(e);
        throw damage;
      }
    }

    @Override
    public void close() {}
  }
}
