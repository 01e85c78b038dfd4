package io.stele.tabletserver;

import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.TabletId;
import java.util.List;

/** News that nobody hears. */
final class NoNews implements TabletNews {
  @Override
  public void notLoaded(TabletId tablet, Bytes row, long epoch, Throwable why) {}

  @Override
  public void changed(List<TabletRecord> tablets) {}
}
