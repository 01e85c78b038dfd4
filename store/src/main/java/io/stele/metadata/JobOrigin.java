package io.stele.metadata;

import io.stele.model.TableUse;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Where a job comes from, for people: nothing is decided by it. It is written when the job begins,
 * as words of its node, and never changes. What cannot be read is taken for unknown.
 *
 * <pre>
 * origin := ( begun=decimal )?                in milliseconds since 1970, by the master's clock
 *           ( owner=name )?                   the user who submitted it
 *           ( uses=use(,use)* )?
 * use    := (served | direct | live | bulk):name
 * name   := encoded as in a URL
 * </pre>
 *
 * @param begun when it began
 * @param owner who began it
 * @param uses the tables that it reads and writes; at most {@link #USES_MAX} of them
 */
public record JobOrigin(Optional<Instant> begun, Optional<String> owner, List<TableUse> uses) {
  /** More would make the node large. */
  static final int USES_MAX = 100;

  /** Of a job of which nothing was said. */
  public static final JobOrigin UNKNOWN =
      new JobOrigin(Optional.empty(), Optional.empty(), List.of());

  public JobOrigin {
    owner = owner.filter(name -> !name.isEmpty());
    uses = uses.stream().distinct().limit(USES_MAX).toList();
  }

  /** The words, each after a blank. */
  String words() {
    return begun.map(time -> " begun=" + time.toEpochMilli()).orElse("")
        + owner.map(name -> " owner=" + encoded(name)).orElse("")
        + (uses.isEmpty()
            ? ""
            : uses.stream().map(JobOrigin::word).collect(Collectors.joining(",", " uses=", "")));
  }

  private static String word(TableUse use) {
    return use.how().name().toLowerCase(Locale.ROOT) + ":" + encoded(use.table());
  }

  /** Finds what {@link #words} wrote among {@code words}. */
  static JobOrigin in(String words) {
    Optional<Instant> begun = Optional.empty();
    Optional<String> owner = Optional.empty();
    List<TableUse> uses = new ArrayList<>();
    for (String word : words.strip().split(" ")) {
      try {
        if (word.startsWith("begun=")) {
          begun = Optional.of(Instant.ofEpochMilli(Long.parseLong(valueOf(word))));
        } else if (word.startsWith("owner=")) {
          owner = Optional.of(decoded(valueOf(word)));
        } else if (word.startsWith("uses=")) {
          uses.addAll(uses(valueOf(word)));
        }
      } catch (IllegalArgumentException e) {
        // Of a later version: what it means is not known here.
      }
    }
    return new JobOrigin(begun, owner, uses);
  }

  private static String valueOf(String word) {
    return word.substring(word.indexOf('=') + 1);
  }

  private static List<TableUse> uses(String words) {
    List<TableUse> uses = new ArrayList<>();
    for (String word : words.split(",")) {
      for (TableUse.How how : TableUse.How.values()) {
        String prefix = how.name().toLowerCase(Locale.ROOT) + ":";
        if (word.startsWith(prefix)) {
          uses.add(new TableUse(decoded(word.substring(prefix.length())), how));
        }
      }
    }
    return uses;
  }

  private static String encoded(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8);
  }

  private static String decoded(String name) {
    return URLDecoder.decode(name, StandardCharsets.UTF_8);
  }
}
