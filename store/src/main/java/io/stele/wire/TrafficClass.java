package io.stele.wire;

import io.stele.model.TableId;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.TabletProto;

/**
 * The kind of data a request is about. It is at the beginning of the frame, so that a server knows
 * which limit applies before it reads the rest.
 */
enum TrafficClass {
  /** Tablets of users' tables, and what is about no tablet. */
  USER(0),
  /** The root tablet and METADATA: a server full of users' requests still answers for these. */
  SYSTEM(1);

  private static final String ROOT = TableId.ROOT.value();
  private static final String METADATA = TableId.METADATA.value();

  private final int code;

  TrafficClass(int code) {
    this.code = code;
  }

  /** Its code in a frame. */
  int code() {
    return code;
  }

  /** The one of {@code code}; a code not known counts as USER. */
  static TrafficClass ofCode(int code) {
    return code == SYSTEM.code ? SYSTEM : USER;
  }

  /** What {@code request} is about. */
  static TrafficClass of(RequestProto request) {
    return switch (request.getMethodCase()) {
      case READ -> of(request.getRead().getTablet());
      case MUTATE ->
          request.getMutate().getTabletsCount() > 0
                  && request.getMutate().getTabletsList().stream().allMatch(t -> of(t) == SYSTEM)
              ? SYSTEM
              : USER;
      case CHECK_AND_MUTATE -> of(request.getCheckAndMutate().getTablet());
      case READ_MODIFY_WRITE -> of(request.getReadModifyWrite().getTablet());
      case SAMPLE_ROW_KEYS -> of(request.getSampleRowKeys().getTablet());
      case SETTLE, PING, METHOD_NOT_SET -> USER;
    };
  }

  private static TrafficClass of(TabletProto tablet) {
    String table = tablet.getTableId();
    return table.equals(METADATA) || table.equals(ROOT) ? SYSTEM : USER;
  }
}
