package io.stele.mapreduce.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * A document of this repository, and its blocks of code, which tests run word for word. Immutable.
 */
public final class Document {
  private static final String FENCE = "```";
  private static final String INDENT = "    ";

  private final String path;
  private final String text;
  private final List<String> blocks;

  private Document(String path, String text) {
    this.path = path;
    this.text = text;
    this.blocks = blocks(text.lines().toList());
  }

  /** The document at {@code path} below the repository's root. */
  public static Document read(String path) throws IOException {
    return new Document(
        path, Files.readString(Repository.root().resolve(path), StandardCharsets.UTF_8));
  }

  /** All of it. */
  public String text() {
    return text;
  }

  /**
   * Its blocks of code, in their order: between fences, or indented by four spaces after an empty
   * line. Each has its lines without the fences or the indent.
   */
  public List<String> blocks() {
    return blocks;
  }

  /** The only block with {@code words} in it. */
  public String block(String words) {
    List<String> found = blocks.stream().filter(block -> block.contains(words)).toList();
    assertThat(found).as("blocks of %s with %s", path, words).hasSize(1);
    return found.get(0);
  }

  private static List<String> blocks(List<String> lines) {
    List<String> blocks = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      boolean isFenced = lines.get(i).startsWith(FENCE);
      boolean isIndented =
          lines.get(i).startsWith(INDENT) && (i == 0 || lines.get(i - 1).isBlank());
      if (isFenced || isIndented) {
        int end = isFenced ? fenceAfter(lines, i + 1) : indentedUntil(lines, i);
        blocks.add(String.join("\n", lines.subList(isFenced ? i + 1 : i, end)).stripIndent());
        i = end;
      }
    }
    return List.copyOf(blocks);
  }

  private static int fenceAfter(List<String> lines, int start) {
    int end = start;
    while (!lines.get(end).startsWith(FENCE)) {
      end++;
    }
    return end;
  }

  /** After the last line of the block: an empty line belongs to it if more of the block follows. */
  private static int indentedUntil(List<String> lines, int start) {
    int end = start;
    for (int i = start; i < lines.size(); i++) {
      if (lines.get(i).startsWith(INDENT)) {
        end = i + 1;
      } else if (!lines.get(i).isBlank()) {
        break;
      }
    }
    return end;
  }
}
