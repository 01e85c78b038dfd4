package io.stele.cli;

import io.stele.config.SizeText;
import io.stele.model.Bloom;
import io.stele.model.CachePriority;
import io.stele.model.Codec;
import io.stele.model.LocalityGroup;
import io.stele.model.SteleException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Locality groups as they are written on the command line. */
final class GroupText {
  private GroupText() {}

  /** The name in {@code name:codec=zstd,block=256k,bloom=row-column,cache=low,memory}. */
  static String name(String text) {
    int colon = text.indexOf(':');
    return colon < 0 ? text : text.substring(0, colon);
  }

  /** The codec of that name, such as {@code zstd-high}. */
  static Codec codec(String text) {
    return parse(Codec.class, text);
  }

  /** {@code group} with the settings, all optional, that follow the name in such a text. */
  static LocalityGroup change(LocalityGroup group, String text) {
    int colon = text.indexOf(':');
    return colon < 0 ? group : change(group, text.substring(colon + 1), text);
  }

  private static LocalityGroup change(LocalityGroup group, String settings, String text) {
    LocalityGroup changed = group;
    for (String setting : settings.split(",")) {
      String[] pair = setting.split("=", 2);
      String value = pair.length == 2 ? pair[1] : "";
      changed =
          switch (pair[0]) {
            case "codec" -> changed.withCodec(codec(value));
            case "block" -> changed.withBlockBytes(blockBytes(value));
            case "bloom" -> changed.withBloom(parse(Bloom.class, value));
            case "cache" -> changed.withCachePriority(parse(CachePriority.class, value));
            case "memory" -> changed.withInMemory(inMemory(setting));
            default ->
                throw SteleException.refused(
                    "locality group \""
                        + text
                        + "\": after the ':' write codec=, block=, bloom=, cache=, memory or memory=no,"
                        + " separated by commas, not \""
                        + setting
                        + "\"");
          };
    }
    return changed;
  }

  /** The group as {@link #change} reads it. */
  static String format(LocalityGroup group) {
    return group.name()
        + ":codec="
        + lower(group.codec())
        + ",block="
        + SizeText.of(group.blockBytes())
        + ",bloom="
        + lower(group.bloom())
        + ",cache="
        + lower(group.cachePriority())
        + (group.inMemory() ? ",memory" : "");
  }

  private static boolean inMemory(String setting) {
    return switch (setting) {
      case "memory", "memory=yes" -> true;
      case "memory=no" -> false;
      default ->
          throw SteleException.refused(
              "write memory, memory=yes or memory=no, not \"" + setting + "\"");
    };
  }

  private static int blockBytes(String text) {
    return (int) Math.min(Integer.MAX_VALUE, SizeText.parse(text));
  }

  private static <E extends Enum<E>> E parse(Class<E> type, String text) {
    return Arrays.stream(type.getEnumConstants())
        .filter(one -> lower(one).equals(text.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                SteleException.refused(
                    "unknown "
                        + type.getSimpleName()
                            .replaceAll("(?<=.)(?=[A-Z])", " ")
                            .toLowerCase(Locale.ROOT)
                        + " \""
                        + text
                        + "\": use one of "
                        + Arrays.stream(type.getEnumConstants())
                            .map(GroupText::lower)
                            .collect(Collectors.joining(", "))));
  }

  /** A constant's name as it is written: {@code row-column}. */
  static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
