package io.stele.cli;

import io.stele.config.SizeText;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.FilterText;
import io.stele.model.LocalityGroup;
import io.stele.model.Principal;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.model.Timestamps;
import java.time.Duration;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Values of options: text that cannot be one is wrong usage, known before a cluster is asked. */
final class OptionValue {
  private OptionValue() {}

  /** Has {@code line} read options of these types, whose text is always read in the same way. */
  static CommandLine register(CommandLine line) {
    return line.registerConverter(Bytes.class, text -> of(text, Bytes::parse))
        .registerConverter(int.class, text -> of(text, number(Integer::valueOf)))
        .registerConverter(Integer.class, text -> of(text, number(Integer::valueOf)))
        .registerConverter(long.class, text -> of(text, number(Long::valueOf)))
        .registerConverter(Long.class, text -> of(text, number(Long::valueOf)))
        .registerConverter(Codec.class, text -> of(text, GroupText::codec))
        .registerConverter(Duration.class, text -> of(text, FamilyText::parseTime))
        .registerConverter(Filter.class, text -> of(text, FilterText::parse))
        .registerConverter(TabletId.class, text -> of(text, TabletId::parse))
        .registerConverter(Principal.class, text -> of(text, Principal::parse));
  }

  /** The value of {@code text} in an argument of {@code command}. */
  static <T> T of(String text, Function<String, T> parser, CommandSpec command) {
    try {
      return of(text, parser);
    } catch (TypeConversionException wrong) {
      throw new ParameterException(command.commandLine(), wrong.getMessage(), wrong);
    }
  }

  private static <T> T of(String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (SteleException | IllegalArgumentException wrong) {
      throw new TypeConversionException(wrong.getMessage());
    }
  }

  private static <T> Function<String, T> number(Function<String, T> parser) {
    return text -> {
      try {
        return parser.apply(text);
      } catch (NumberFormatException wrong) {
        boolean digits = text.matches("[-+]?\\d+");
        throw new IllegalArgumentException(
            digits ? text + " is out of range" : "write a whole number, not \"" + text + "\"",
            wrong);
      }
    };
  }

  /** The column of a cell. Its colon must be written: elsewhere a name without is a family. */
  static final class CellColumn implements ITypeConverter<Column> {
    @Override
    public Column convert(String text) {
      if (text.indexOf(':') < 0) {
        throw new TypeConversionException(
            "write a column as FAMILY:QUALIFIER, or \""
                + text
                + ":\" for the empty qualifier, not \""
                + text
                + "\"");
      }
      return of(text, Column::parse);
    }
  }

  /** A size such as {@code 64m}, in bytes. */
  static final class Size implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return of(text, SizeText::parse);
    }
  }

  /** A time such as {@code 10m}; a bare number is one of seconds. */
  static final class Seconds implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      return of(text, all -> FamilyText.parseTime(all.matches("\\d+") ? all + "s" : all));
    }
  }

  /** How many versions: a whole number from 1, or {@code all}. */
  static final class Versions implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return text.equals("all") ? Integer.MAX_VALUE : new Count().convert(text);
    }
  }

  /** A timestamp, in microseconds, written as such or as {@code get} shows it. */
  static final class Timestamp implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return of(text, Timestamps::parse);
    }
  }

  /** A whole number from 1. */
  static final class Count implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      if (!text.matches("0*[1-9]\\d{0,8}")) {
        throw new TypeConversionException(
            "write a whole number from 1 to 999999999, not \"" + text + "\"");
      }
      return Integer.valueOf(text);
    }
  }

  /**
   * A locality group as {@link GroupText#change} reads it; it stays text, for it may change one.
   */
  static final class Group implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      of(text, all -> GroupText.change(LocalityGroup.of(GroupText.name(all)), all));
      return text;
    }
  }

  /** The id of a table's change; it stays text. */
  static final class ChangeId implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      if (!text.matches(".+/.+")) {
        throw new TypeConversionException(
            "\""
                + text
                + "\" is not the id of a change, such as webtable/drop-00112233445566778899aabbccddeeff:"
                + " `stele table changes` shows those in progress");
      }
      return text;
    }
  }

  /** A column or a family; it stays text, for a colon tells them apart. */
  static final class ColumnText implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      of(text, Column::parse);
      return text;
    }
  }
}
