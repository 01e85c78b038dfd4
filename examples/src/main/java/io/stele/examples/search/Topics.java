package io.stele.examples.search;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A small web: pages of five topics, some of whose words have several meanings. */
final class Topics {
  private static final Map<String, List<String>> WORDS =
      new TreeMap<>(
          Map.of(
              "animals", List.of("jaguar", "python", "beetle", "zoo"),
              "cars", List.of("jaguar", "beetle", "mercury", "engine"),
              "computing", List.of("java", "python", "tablet", "compiler"),
              "space", List.of("mercury", "saturn", "rocket", "orbit"),
              "travel", List.of("java", "island", "hotel", "orbit")));

  /** All topics, in order. */
  static final List<String> TOPICS = List.copyOf(WORDS.keySet());

  private Topics() {}

  /** The words of a topic. */
  static List<String> words(String topic) {
    return WORDS.getOrDefault(topic, List.of());
  }

  /** The page of a topic about a word. */
  static String page(String topic, String word) {
    return topic + ".example/" + word;
  }

  /** What a page is about. */
  static Optional<String> ofPage(String page) {
    int dot = Math.max(0, page.indexOf('.'));
    return Optional.of(page.substring(0, dot)).filter(TOPICS::contains);
  }

  /** What somebody who asks for a word may mean. */
  static List<String> ofWord(String word) {
    return TOPICS.stream().filter(topic -> words(topic).contains(word)).toList();
  }

  /** The pages about a word, the most interesting to the profile's user first. */
  static List<String> find(String word, Map<String, Double> profile) {
    List<String> topics = new ArrayList<>(ofWord(word));
    topics.sort((one, other) -> Double.compare(interest(other, profile), interest(one, profile)));
    return topics.stream().map(topic -> page(topic, word)).toList();
  }

  private static double interest(String topic, Map<String, Double> profile) {
    return profile.getOrDefault(topic, 0.0);
  }
}
