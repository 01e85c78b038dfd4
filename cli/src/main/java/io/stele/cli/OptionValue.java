package io.stele.cli;

import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.LocalityGroup;
import io.stele.model.Principal;
import io.stele.model.SteleException;
import java.time.Duration;
import java.util.function.Function;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Values of options: text that cannot be one is wrong usage, known before a cluster is asked. */
final class OptionValue {
  private OptionValue() {}

  private static <T> T of(String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (SteleException | IllegalArgumentException wrong) {
      throw new TypeConversionException(wrong.getMessage());
    }
  }

  /** The name of a codec, such as {@code zstd-high}. */
  static final class CodecName implements ITypeConverter<Codec> {
    @Override
    public Codec convert(String text) {
      return of(text, GroupText::codec);
    }
  }

  /** A size such as {@code 64m}, in bytes. */
  static final class Size implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return of(text, FamilyText::parseSize);
    }
  }

  /** A time such as {@code 10m}. */
  static final class Time implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      return of(text, FamilyText::parseTime);
    }
  }

  /** A row key as commands print it. */
  static final class Row implements ITypeConverter<Bytes> {
    @Override
    public Bytes convert(String text) {
      return of(text, Bytes::parse);
    }
  }

  /** Who may read a table's files, such as {@code user:alice}. */
  static final class Reader implements ITypeConverter<Principal> {
    @Override
    public Principal convert(String text) {
      return of(text, Principal::parse);
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
