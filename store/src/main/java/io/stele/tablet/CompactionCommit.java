package io.stele.tablet;

import io.stele.record.ManifestEdit;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Commits what compactions have written: makes it durable in the manifest, then visible in the
 * tablet's state. A compaction that left out cells is void if policies have been altered since, so
 * that these may be visible.
 *
 * <p>After the commit only the swap of the state remains, which fails only if the tablet was closed
 * in between. If the outcome of the commit is unknown, the tablet stops. Commits run one at a time.
 * Safe for use by any number of threads.
 */
final class CompactionCommit {
  private final TabletCore core;
  private final CompactionWriter writer;
  private final ManifestEdits edits;
  private volatile Optional<Result> committing = Optional.empty();

  /**
   * What a compaction has written, and how.
   *
   * @param rules by which garbage was left out
   */
  record Result(
      CompactionWriter.Output output, CompactionWriter.Coverage coverage, SchemaRules rules) {
    /** Whether what was left out, if anything, is surely garbage by the rules of {@code now}. */
    boolean suits(SchemaRules now) {
      long known = coverage.known();
      return output.readableFrom() == 0
          || now.at(known).confirm(rules.at(known), coverage.families());
    }
  }

  /** The commits of a tablet's compactions. */
  CompactionCommit(TabletCore core, CompactionWriter writer, ManifestEdits edits) {
    this.core = core;
    this.writer = writer;
    this.edits = edits;
  }

  /** See {@link Tablet#mayCommitLoss}. */
  boolean mayCommitLoss() {
    return committing.filter(result -> !result.suits(core.rules())).isPresent();
  }

  /**
   * Makes a compaction durable, then visible.
   *
   * @param removed the files that the new ones replace
   * @param boundary everything up to this sequence number is in files then; 0 if no more than now
   * @param change of the state
   * @return false if the compaction is void: its files are deleted
   */
  boolean commit(
      String reason,
      Result result,
      List<TabletFile> removed,
      long boundary,
      UnaryOperator<TabletState> change)
      throws IOException {
    return edits.alone(
        () -> {
          committing = Optional.of(result); // First: whoever alters the schema looks for it after.
          try {
            if (!result.suits(core.rules())) {
              writer.discard(result.output());
              return false;
            }
            ManifestEdit edit =
                edits
                    .edit(reason, boundary)
                    .add(result.output().refs())
                    .remove(removed.stream().map(TabletFile::ref).toList())
                    .build();
            commit(edit, result.output(), change);
            return true;
          } finally {
            committing = Optional.empty();
          }
        });
  }

  private void commit(
      ManifestEdit edit, CompactionWriter.Output output, UnaryOperator<TabletState> change)
      throws IOException {
    edits.commit(edit, output);
    try {
      core.current().swap(change);
    } finally {
      output.files().forEach(TabletFile::release); // Now the state holds it.
    }
  }
}
