package io.stele.metadata;

import io.stele.model.TabletId;
import io.stele.record.FileRef;
import java.util.List;

/**
 * One half of a split.
 *
 * @param id the new tablet's name
 * @param files the parent's SSTables that it shares, with row bounds
 */
public record Child(TabletId id, List<FileRef> files) {
  public Child {
    files = List.copyOf(files);
  }
}
