package io.stele.model;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Appends to and increments the newest versions of a row's columns. The row is read and written in
 * one atomic step; the answer is a row with the new cells.
 *
 * @param row the row key
 * @param rules what to do, in order; a later rule sees what an earlier one wrote
 */
public record ReadModifyWrite(Bytes row, List<Rule> rules) implements RowOperation {
  /** What to do with one column. */
  public sealed interface Rule extends Serializable {
    /** The kinds of rule. */
    enum Kind {
      APPEND,
      INCREMENT
    }

    /** Which kind of rule this is: a switch over it names them all. */
    Kind kind();

    /** The column's family. */
    String family();

    /** The column's qualifier. */
    Bytes qualifier();
  }

  /** Adds {@code suffix} to the end of the value; a column without a value counts as empty. */
  public record Append(String family, Bytes qualifier, Bytes suffix) implements Rule {
    @Override
    public Rule.Kind kind() {
      return Rule.Kind.APPEND;
    }
  }

  /**
   * Adds {@code amount} to the 64-bit big-endian number in the value, wrapping around; a column
   * without a value counts as 0, and a value that does not have 8 bytes is refused.
   */
  public record Increment(String family, Bytes qualifier, long amount) implements Rule {
    @Override
    public Rule.Kind kind() {
      return Rule.Kind.INCREMENT;
    }
  }

  public ReadModifyWrite {
    Limits.checkRow(row);
    rules = List.copyOf(rules);
    Limits.checkRules(row, rules.size());
    for (Rule rule : rules) {
      Limits.checkFamily(rule.family());
      Limits.checkQualifier(rule.qualifier());
    }
  }

  @Override
  public RowOperation.Kind kind() {
    return RowOperation.Kind.READ_MODIFY_WRITE;
  }

  /** Increments one column of {@code row}. */
  public static ReadModifyWrite increment(Bytes row, String family, Bytes qualifier, long amount) {
    return new ReadModifyWrite(row, List.of(new Increment(family, qualifier, amount)));
  }

  /** Increments one column of {@code row}. */
  public static ReadModifyWrite increment(
      String row, String family, String qualifier, long amount) {
    return increment(Bytes.of(row), family, Bytes.of(qualifier), amount);
  }

  /** Appends to one column of {@code row}. */
  public static ReadModifyWrite append(Bytes row, String family, Bytes qualifier, Bytes suffix) {
    return new ReadModifyWrite(row, List.of(new Append(family, qualifier, suffix)));
  }

  /** Appends to one column of {@code row}. */
  public static ReadModifyWrite append(String row, String family, String qualifier, String suffix) {
    return append(Bytes.of(row), family, Bytes.of(qualifier), Bytes.of(suffix));
  }

  /** These rules and then {@code rule}. */
  public ReadModifyWrite with(Rule rule) {
    List<Rule> longer = new ArrayList<>(rules);
    longer.add(rule);
    return new ReadModifyWrite(row, longer);
  }
}
