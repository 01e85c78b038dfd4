package io.stele.wire;

import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.wire.control.ControlProtos.TabletRefProto;

/** How messages of the control plane name a tablet under an epoch. */
public final class TabletRefs {
  private TabletRefs() {}

  /**
   * Names a tablet.
   *
   * @param row the key of its row in METADATA; empty for the root tablet
   */
  public static TabletRefProto of(TabletId tablet, Bytes row, long epoch) {
    return TabletRefProto.newBuilder()
        .setTableId(tablet.table().value())
        .setTablet(tablet.name())
        .setEpoch(epoch)
        .setMetadataRow(ByteStrings.of(row))
        .build();
  }

  /**
   * The tablet that is named.
   *
   * @throws SteleException REFUSED if it is no tablet's name
   */
  public static TabletId id(TabletRefProto ref) {
    try {
      return new TabletId(new TableId(ref.getTableId()), ref.getTablet());
    } catch (IllegalArgumentException e) {
      throw SteleException.refused(e);
    }
  }
}
