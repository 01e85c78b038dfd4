package io.stele.tabletserver;

/** The kinds of background work on a tablet. */
enum WorkKind {
  SERVE("be served"),
  MAINTAIN("be looked after"),
  MINOR_COMPACTION("make a minor compaction"),
  MERGING_COMPACTION("make a merging compaction"),
  MAJOR_COMPACTION("make a major compaction"),
  COMPACT_TABLE("be compacted with its table, as requested"),
  MAKE_ROOM("make room in its record by a major compaction"),
  SPLIT("split"),
  COVER_REPLAY("cover the replayed records"),
  DELETE_ABANDONED_FILES("delete the files of failed compactions"),
  PIN("be pinned for job"),
  UNPIN("remove the pins of ended jobs"),
  REGISTER_FILES("register the files of job"),
  RESOLVE_FILES("resolve the files of jobs that are over"),
  CLEAR_ROWS("delete a range of rows by change"),
  ERASE_FAMILIES("remove dropped families by change");

  private final String text;

  WorkKind(String text) {
    this.text = text;
  }

  /** What a tablet does or cannot do, as a verb: "split". */
  String text() {
    return text;
  }
}
