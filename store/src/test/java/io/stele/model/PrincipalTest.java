package io.stele.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrincipalTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"user:alice", "group:analysts", "user:a", "group:domain users", "user:svc_1@corp"})
  void aUserOrGroupIsReadAsItIsWritten(String text) {
    assertThat(Principal.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "alice",
        "user",
        "user:",
        "USER:alice",
        "other:alice",
        "user:al:ice",
        "user:a,b",
        "user: alice",
        "group:x ",
        "user:alice/host@REALM",
        "mask::rwx",
        "user:a\nb"
      })
  void whatCannotBeInAnAccessControlListIsRefused(String text) {
    assertThatThrownBy(() -> Principal.parse(text))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
  }

  @Test
  void aNameHasALimit() {
    assertThat(Principal.user("x".repeat(255)).name()).hasSize(255);
    assertThatThrownBy(() -> Principal.user("x".repeat(256))).hasMessageContaining("255");
  }

  @Test
  void readersOfATableAreInOrderAndNoneTwice() {
    TableSchema schema =
        TableSchema.of("t", "f").withReaders("group:a", "user:z", "user:b", "user:z");
    assertThat(schema.readers()).hasToString("[user:b, user:z, group:a]");
    assertThat(schema.withHsync(true).with(ColumnFamily.of("g")).without("f").readers())
        .isEqualTo(schema.readers());
    assertThat(schema.withReaders().readers()).isEmpty();
  }

  @Test
  void aTableHasNoMoreReadersThanAnAccessControlListTakes() {
    String[] most = IntStream.range(0, 24).mapToObj(i -> "user:u" + i).toArray(String[]::new);
    assertThat(TableSchema.of("t", "f").withReaders(most).readers()).hasSize(24);
    String[] more = IntStream.range(0, 25).mapToObj(i -> "user:u" + i).toArray(String[]::new);
    assertThatThrownBy(() -> TableSchema.of("t", "f").withReaders(more))
        .hasMessageContaining("25 readers: the limit is 24");
  }
}
