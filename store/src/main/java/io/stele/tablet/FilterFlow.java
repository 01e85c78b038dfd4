package io.stele.tablet;

import io.stele.format.ByteReader;
import io.stele.format.ByteWriter;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Filter;
import io.stele.model.SteleException;
import io.stele.runtime.MemoryClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * A {@link Filter} over one row that is read in parts: for all parts together it passes what {@link
 * RowFilter} passes for the whole row.
 *
 * <p>Counts continue from part to part. A condition must have seen the whole row before it lets
 * anything through, so a row may need several passes. While {@link #isDecided} is false, the cells
 * that a pass lets through do not count; {@link #endPass} then decides the conditions that the pass
 * has answered. {@link #saveState} and {@link #restoreState} carry the state from one part to the
 * next.
 *
 * <p>Not safe for use by several threads.
 */
abstract class FilterFlow {
  /** The cells that pass, of the next cells of {@code row}. */
  abstract List<Cell> apply(Bytes row, List<Cell> part);

  /**
   * Whether all relevant conditions are decided, so that the cells that pass now are the answer.
   */
  boolean isDecided() {
    return true;
  }

  /**
   * Ends a pass over the whole row: decides conditions that saw all they need, and starts again.
   */
  final void endPass() {
    decide(true);
    restart();
  }

  /**
   * Decides what can be decided.
   *
   * @param complete whether this pass has seen all cells that there will ever be
   * @return whether this pass has let through all cells that will ever pass
   */
  boolean decide(boolean complete) {
    return complete;
  }

  /** Resets counts, but keeps decisions. */
  void restart() {}

  /** Writes what {@link #readState} needs to continue from here. */
  abstract void writeState(ByteWriter out);

  /** Reads what {@link #writeState} of a flow of the same filter wrote. */
  abstract void readState(ByteReader in) throws MalformedException;

  /** The state to continue from, for the next part of the row. */
  final Bytes saveState() {
    ByteWriter out = new ByteWriter(16);
    writeState(out);
    return Bytes.wrap(out.toByteArray());
  }

  /**
   * Continues from {@code state}, taken from a flow of the same filter.
   *
   * @throws SteleException REFUSED if it is not such a state
   */
  final void restoreState(Bytes state) {
    try {
      ByteReader in = new ByteReader(state.toByteArray());
      readState(in);
      if (in.remaining() > 0) {
        throw in.malformed("it is longer than it should be");
      }
    } catch (MalformedException e) {
      throw new SteleException(
          SteleException.Code.REFUSED,
          "the position inside the row belongs to another filter: " + e.getMessage(),
          e);
    }
  }

  /**
   * A flow that has seen nothing yet.
   *
   * @param claim as for {@link RowFilter#of}
   */
  static FilterFlow of(Filter filter, MemoryClaim claim) {
    return switch (filter.kind()) {
      case CELLS_PER_ROW_LIMIT ->
          new Counting(
              ((Filter.CellsPerRowLimit) filter).count(), (cells, n) -> cells.subList(0, n));
      case CELLS_PER_ROW_OFFSET ->
          new Counting(
              ((Filter.CellsPerRowOffset) filter).count(),
              (cells, n) -> cells.subList(n, cells.size()));
      case CELLS_PER_COLUMN_LIMIT -> new ColumnLimit(((Filter.CellsPerColumnLimit) filter).count());
      case CHAIN -> new Chain(all(((Filter.Chain) filter).filters(), claim));
      case INTERLEAVE -> new Interleave(all(((Filter.Interleave) filter).filters(), claim));
      case CONDITION -> new Condition((Filter.Condition) filter, claim);
      case PASS_ALL,
          BLOCK_ALL,
          ROW_KEY_REGEX,
          ROW_SAMPLE,
          FAMILY_REGEX,
          QUALIFIER_REGEX,
          COLUMN_RANGE,
          COLUMN_IS,
          VALUE_REGEX,
          VALUE_RANGE,
          VALUE_IS,
          TIMESTAMP_RANGE,
          STRIP_VALUE,
          LABEL ->
          new CellByCell(RowFilter.of(filter, claim));
    };
  }

  private static List<FilterFlow> all(List<Filter> filters, MemoryClaim claim) {
    return filters.stream().map(filter -> of(filter, claim)).toList();
  }

  /** Judges each cell independently. */
  private static final class CellByCell extends FilterFlow {
    private final RowFilter filter;

    CellByCell(RowFilter filter) {
      this.filter = filter;
    }

    @Override
    List<Cell> apply(Bytes row, List<Cell> part) {
      return filter.apply(row, part);
    }

    @Override
    void writeState(ByteWriter out) {}

    @Override
    void readState(ByteReader in) {}
  }

  /** Separates the first {@code count} cells of the row from the others. */
  private static final class Counting extends FilterFlow {
    private final int count;
    private final BiFunction<List<Cell>, Integer, List<Cell>> taken;
    private long seen;

    /**
     * A flow that counts cells.
     *
     * @param taken which of some cells pass, given how many of them are among the first
     */
    Counting(int count, BiFunction<List<Cell>, Integer, List<Cell>> taken) {
      this.count = count;
      this.taken = taken;
    }

    @Override
    List<Cell> apply(Bytes row, List<Cell> part) {
      int first = (int) Math.min(part.size(), Math.max(0, count - seen));
      seen += part.size();
      return taken.apply(part, first);
    }

    @Override
    void restart() {
      seen = 0;
    }

    @Override
    void writeState(ByteWriter out) {
      out.writeVarlong(seen);
    }

    @Override
    void readState(ByteReader in) throws MalformedException {
      seen = in.readVarlong();
    }
  }

  /** The first cells of each column, up to a limit. */
  private static final class ColumnLimit extends FilterFlow {
    private final int count;
    private Bytes family = Bytes.EMPTY;
    private Bytes qualifier = Bytes.EMPTY;
    private long taken;

    ColumnLimit(int count) {
      this.count = count;
    }

    @Override
    List<Cell> apply(Bytes row, List<Cell> part) {
      List<Cell> some = new ArrayList<>();
      for (Cell cell : part) {
        Bytes of = Bytes.of(cell.family());
        if (!of.equals(family) || !cell.qualifier().equals(qualifier)) {
          family = of;
          qualifier = cell.qualifier();
          taken = 0;
        }
        taken++;
        if (taken <= count) {
          some.add(cell);
        }
      }
      return some;
    }

    @Override
    void restart() {
      family = Bytes.EMPTY;
      qualifier = Bytes.EMPTY;
      taken = 0;
    }

    @Override
    void writeState(ByteWriter out) {
      out.writePrefixed(family).writePrefixed(qualifier).writeVarlong(taken);
    }

    @Override
    void readState(ByteReader in) throws MalformedException {
      family = in.readPrefixed();
      qualifier = in.readPrefixed();
      taken = in.readVarlong();
    }
  }

  /** Contains several flows. */
  private abstract static class Several extends FilterFlow {
    final List<FilterFlow> flows;

    Several(List<FilterFlow> flows) {
      this.flows = flows;
    }

    @Override
    boolean isDecided() {
      return flows.stream().allMatch(FilterFlow::isDecided);
    }

    @Override
    void restart() {
      flows.forEach(FilterFlow::restart);
    }

    @Override
    void writeState(ByteWriter out) {
      flows.forEach(flow -> flow.writeState(out));
    }

    @Override
    void readState(ByteReader in) throws MalformedException {
      for (FilterFlow flow : flows) {
        flow.readState(in);
      }
    }
  }

  private static final class Chain extends Several {
    Chain(List<FilterFlow> flows) {
      super(flows);
    }

    @Override
    List<Cell> apply(Bytes row, List<Cell> part) {
      List<Cell> left = part;
      for (FilterFlow flow : flows) {
        left = flow.apply(row, left);
      }
      return left;
    }

    @Override
    boolean decide(boolean complete) {
      boolean all = complete;
      for (FilterFlow flow : flows) {
        all = flow.decide(all);
      }
      return all;
    }
  }

  private static final class Interleave extends Several {
    Interleave(List<FilterFlow> flows) {
      super(flows);
    }

    @Override
    List<Cell> apply(Bytes row, List<Cell> part) {
      List<Cell> all = new ArrayList<>();
      for (FilterFlow flow : flows) {
        List<Cell> more = flow.apply(row, part);
        RowFilter.checkCount(row, all.size() + more.size(), part.size());
        all.addAll(more);
      }
      all.sort(RowFilter.ORDER); // No two parts have cells that are equal in it.
      return all;
    }

    @Override
    boolean decide(boolean complete) {
      boolean all = complete;
      for (FilterFlow flow : flows) {
        all &= flow.decide(complete);
      }
      return all;
    }
  }

  /** Lets nothing through until its predicate has seen the whole row. */
  private static final class Condition extends Several {
    private static final int UNDECIDED = 0;
    private static final int SEEN = 1; // Undecided, but the predicate has let something through.
    private static final int HOLDS = 2;
    private static final int FAILS = 3;

    private int state = UNDECIDED;

    Condition(Filter.Condition filter, MemoryClaim claim) {
      super(all(List.of(filter.predicate(), filter.ifTrue(), filter.ifFalse()), claim));
    }

    private FilterFlow predicate() {
      return flows.get(0);
    }

    private FilterFlow chosen() {
      return flows.get(state == HOLDS ? 1 : 2);
    }

    @Override
    boolean isDecided() {
      return state >= HOLDS && chosen().isDecided();
    }

    @Override
    List<Cell> apply(Bytes row, List<Cell> part) {
      if (state >= HOLDS) {
        return chosen().apply(row, part);
      }
      if (!predicate().apply(row, part).isEmpty()) {
        state = SEEN;
      }
      return List.of();
    }

    @Override
    boolean decide(boolean complete) {
      if (state >= HOLDS) {
        return chosen().decide(complete);
      }
      if (predicate().decide(complete)) {
        state = state == SEEN ? HOLDS : FAILS;
      } else {
        state = UNDECIDED;
      }
      return false;
    }

    @Override
    void writeState(ByteWriter out) {
      out.writeByte(state);
      super.writeState(out);
    }

    @Override
    void readState(ByteReader in) throws MalformedException {
      state = in.readByte();
      if (state > FAILS) {
        throw in.malformed("a condition has a state of " + state);
      }
      super.readState(in);
    }
  }
}
