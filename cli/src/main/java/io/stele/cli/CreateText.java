package io.stele.cli;

import io.stele.config.SizeText;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Principal;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A table as the {@code stele table create} command that creates one like it. */
final class CreateText {
  private CreateText() {}

  /**
   * The command up to its split rows, as words.
   *
   * @throws SteleException REFUSED if a family's policy can be given only by a program
   */
  static List<String> words(TableSchema schema) {
    List<String> words = new ArrayList<>(List.of("stele", "table", "create", schema.name()));
    schema.families().forEach(family -> words.add(text(family)));
    for (LocalityGroup group : schema.groups()) {
      words.addAll(List.of("--group", GroupText.format(group)));
    }
    words.addAll(List.of("--split-size", SizeText.of(schema.splitBytes())));
    if (schema.hsync()) {
      words.add("--hsync");
    }
    for (Principal reader : schema.readers()) {
      words.addAll(List.of("--reader", reader.toString()));
    }
    return words;
  }

  private static String text(ColumnFamily family) {
    String text = FamilyText.format(family);
    try {
      if (FamilyText.parse(text).equals(family)) {
        return text;
      }
    } catch (SteleException notInText) {
      // Said below.
    }
    throw SteleException.refused(
        "family "
            + text
            + " has limits of which one is enough: a command cannot say this, only a program"
            + " (`GcPolicy.intersection`)");
  }

  /** The options for split rows, as words. */
  static List<String> splits(List<Bytes> rows) {
    return rows.stream().flatMap(row -> List.of("--split-at", row.toString()).stream()).toList();
  }

  /** The words as a shell reads them. */
  static String line(List<String> words) {
    return words.stream().map(CreateText::quoted).collect(Collectors.joining(" "));
  }

  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_./:=,+-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
