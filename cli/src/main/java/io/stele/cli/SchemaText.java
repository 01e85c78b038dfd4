package io.stele.cli;

import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.SteleException;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** A table's families and locality groups as the words of a command. */
final class SchemaText {
  private SchemaText() {}

  /**
   * What the words of a command mean, found out before a cluster is asked.
   *
   * @throws ParameterException if they mean nothing: wrong usage
   */
  static <T> T meaning(CommandSpec command, Supplier<T> meaning) {
    try {
      return meaning.get();
    } catch (SteleException wrong) {
      throw new ParameterException(command.commandLine(), wrong.getMessage(), wrong);
    }
  }

  /**
   * The families as new ones.
   *
   * @throws ParameterException if a text is none
   */
  static List<ColumnFamily> families(CommandSpec command, List<String> texts) {
    return meaning(command, () -> texts.stream().map(FamilyText::parse).toList());
  }

  /**
   * Checks that every family is in one of the groups.
   *
   * @throws ParameterException if one is not
   */
  static void requireGroups(
      CommandSpec command, List<ColumnFamily> families, List<LocalityGroup> groups) {
    for (ColumnFamily family : families) {
      if (groups.stream().noneMatch(group -> group.name().equals(family.group()))) {
        throw new ParameterException(
            command.commandLine(),
            "family "
                + family.name()
                + " is in locality group "
                + family.group()
                + ", which does not exist: add --group "
                + family.group());
      }
    }
  }
}
