package io.stele.cli;

import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.LocalityGroup;
import io.stele.model.Principal;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Values of options: text that cannot be one is wrong usage, known before a cluster is asked. */
final class OptionValue {
  private OptionValue() {}

  /** Has {@code line} read options of these types, whose text is always read in the same way. */
  static CommandLine register(CommandLine line) {
    return line.registerConverter(Bytes.class, text -> of(text, Bytes::parse))
        .registerConverter(Codec.class, text -> of(text, GroupText::codec))
        .registerConverter(Duration.class, text -> of(text, FamilyText::parseTime))
        .registerConverter(Principal.class, text -> of(text, Principal::parse));
  }

  private static <T> T of(String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (SteleException | IllegalArgumentException wrong) {
      throw new TypeConversionException(wrong.getMessage());
    }
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
}
