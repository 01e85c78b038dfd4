package io.stele.tablet;

import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.record.FileRef;
import io.stele.record.Pin;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The pins of a tablet, and what they require of compactions. A pin divides the files: each file
 * has operations from one side of it only. So a compaction keeps what a pin needs if it
 *
 * <ul>
 *   <li>has inputs from one side of it only, because operations above the pin are not read at it,
 *       and
 *   <li>below it, drops nothing that the pin's own policies and clock would show.
 * </ul>
 *
 * <p>Read by any number of threads, changed by one at a time: within {@link ManifestEdits#alone}.
 */
final class Pins {
  /** A pin prepared for use. */
  record Held(Pin pin, SchemaRules rules) {}

  private final TabletId tablet;
  private volatile List<Held> held; // The lowest first.

  Pins(TabletId tablet, List<Pin> pins) {
    this.tablet = tablet;
    this.held = held(pins);
  }

  private static List<Held> held(List<Pin> pins) {
    return pins.stream()
        .sorted(Comparator.comparingLong(Pin::readPoint).thenComparing(Pin::name))
        .map(pin -> new Held(pin, new SchemaRules(pin.schema(), pin.former())))
        .toList();
  }

  /** All pins, the lowest read point first. */
  List<Pin> all() {
    return held.stream().map(Held::pin).toList();
  }

  Optional<Held> find(String name) {
    return held.stream().filter(one -> one.pin().name().equals(name)).findFirst();
  }

  /**
   * The pin of that name.
   *
   * @throws SteleException REFUSED if there is none
   */
  Held require(String name) {
    return find(name)
        .orElseThrow(
            () ->
                SteleException.refused(
                    "tablet "
                        + tablet
                        + " has no pin "
                        + name
                        + ": it was taken away, and what it kept may be gone"));
  }

  void add(Pin pin) {
    List<Pin> more = new ArrayList<>(all());
    more.add(pin);
    held = held(more);
  }

  void remove(String name) {
    held = held.stream().filter(one -> !one.pin().name().equals(name)).toList();
  }

  /** The time from which ages are computed when operations up to {@code sequence} are dropped. */
  long clock(long sequence, long nowMicros) {
    return held.stream()
        .map(Held::pin)
        .filter(pin -> pin.readPoint() >= sequence)
        .mapToLong(Pin::clockMicros)
        .reduce(nowMicros, Math::min);
  }

  /**
   * Whether a compaction of {@code inputs} at {@code timeMicros} keeps everything the pins need.
   */
  boolean allow(CompactionWriter.Coverage inputs, SchemaRules rules, long timeMicros) {
    return held.stream()
        .allMatch(
            one -> {
              Pin pin = one.pin();
              return inputs.minSequence() > pin.readPoint()
                  || (inputs.maxSequence() <= pin.readPoint()
                      && timeMicros <= pin.clockMicros()
                      && one.rules().at(inputs.known()).judgesAs(rules.at(inputs.known())));
            });
  }

  /**
   * Whether a pin sees cells in the file that were erased since: the file must then stay unchanged.
   */
  boolean seeErased(FileRef file) {
    return held.stream()
        .mapToLong(one -> one.pin().readPoint())
        .anyMatch(
            point ->
                point >= file.maxSequence() && file.erasedAt(point).size() < file.erased().size());
  }

  /** The groups of layers of a stack that may be compacted together, the newest first. */
  List<FileStack> parts(FileStack stack) {
    if (held.isEmpty()) {
      return List.of(stack);
    }
    List<FileStack> parts = new ArrayList<>();
    List<FileStack.Layer> part = new ArrayList<>();
    for (FileStack.Layer layer : stack.layers()) {
      if (!part.isEmpty() && side(layer) != side(part.get(0))) {
        parts.add(stack.part(part));
        part.clear();
      }
      part.add(layer);
    }
    parts.add(stack.part(part));
    return parts;
  }

  /** How many pins see the layer; no pin divides any of its files. */
  private long side(FileStack.Layer layer) {
    return held.stream().filter(one -> one.pin().readPoint() >= layer.maxSequence()).count();
  }
}
