package io.stele.examples.webtable;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Guesses a text's language by its commonest words; {@code und} if there are too few of them. */
final class Language {
  private static final int HITS_MIN = 3;

  private static final Map<String, Set<String>> WORDS =
      new TreeMap<>(
          Map.of(
              "en", words("the of and to in is that for it with as this by are from an or which"),
              "de", words("der die und das ist nicht mit ein eine von zu den dem auf sich auch"),
              "fr", words("le la les des est une et dans que pour qui sur avec pas aux ce"),
              "es", words("el los las una que por con para del es se como su al lo m\u00e1s")));

  private Language() {}

  /**
   * The language of {@code text}: {@code en}, {@code de}, {@code fr}, {@code es} or {@code und}.
   */
  static String of(CharSequence text) {
    List<String> found = List.of(text.toString().toLowerCase(Locale.ROOT).split("[^\\p{L}]+"));
    String best = "und";
    long most = HITS_MIN - 1;
    for (Map.Entry<String, Set<String>> language : WORDS.entrySet()) {
      long hits = found.stream().filter(language.getValue()::contains).count();
      if (hits > most) {
        best = language.getKey();
        most = hits;
      }
    }
    return best;
  }

  private static Set<String> words(String text) {
    return Set.of(text.split(" "));
  }
}
