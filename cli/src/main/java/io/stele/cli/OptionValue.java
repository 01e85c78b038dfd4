package io.stele.cli;

import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.Column;
import io.stele.model.LocalityGroup;
import io.stele.model.Principal;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
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
            digits ? text + " is too much" : "write a whole number, not \"" + text + "\"", wrong);
      }
    };
  }

  /** A size such as {@code 64m}, in bytes. */
  static final class Size implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return of(text, FamilyText::parseSize);
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

  /** A time such as {@code 2026-11-01T00:00:00Z}, or microseconds since 1970; in microseconds. */
  static final class Micros implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        return text.matches("\\d{1,18}")
            ? Long.valueOf(text)
            : of(text, time -> TimeRange.since(Instant.parse(time)).fromMicros());
      } catch (DateTimeParseException wrong) {
        throw new TypeConversionException(
            "write a time such as 2026-11-01T00:00:00Z, or microseconds since 1970, not \""
                + text
                + "\"");
      }
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

  /** A column or a family; it stays text, for a colon tells them apart. */
  static final class ColumnText implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      of(text, Column::parse);
      return text;
    }
  }
}
