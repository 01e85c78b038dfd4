package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Principal;
import io.stele.model.TableSchema;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ReaderOptionsTest {
  private static final TableSchema BEFORE =
      TableSchema.of("t", "f").withReaders("user:alice", "group:analysts");

  private static List<Principal> changed(String... arguments) {
    ReaderOptions options = new ReaderOptions();
    OptionValue.register(new CommandLine(options)).parseArgs(arguments);
    return BEFORE.withReaders(options.change(BEFORE)).readers();
  }

  @Test
  void readersAreAddedAndDropped() {
    assertThat(changed()).isEqualTo(BEFORE.readers());
    assertThat(changed("--reader", "user:bob", "--reader", "user:carol"))
        .hasToString("[user:alice, user:bob, user:carol, group:analysts]");
    assertThat(changed("--reader", "user:bob", "--drop-reader", "group:analysts"))
        .hasToString("[user:alice, user:bob]");
    assertThat(changed("--drop-reader", "group:analysts", "--drop-reader", "user:alice")).isEmpty();
  }
}
