package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.Deadline;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SchemaCheckTest {
  private static final Deadline DEADLINE =
      Deadline.after(SystemRuntime.INSTANCE, Duration.ofSeconds(30));

  private final ArrayDeque<TableSchema> source = new ArrayDeque<>();
  private int reads;
  private final SchemaCheck check = new SchemaCheck(TableSchema.of("t", "f"), this::read, 10);

  private CompletableFuture<TableSchema> read(Deadline deadline) {
    reads++;
    return source.isEmpty()
        ? CompletableFuture.failedFuture(new IOException("no answer"))
        : CompletableFuture.completedFuture(source.remove());
  }

  private static void refused(CompletableFuture<Void> checked, String why) {
    assertThatThrownBy(checked::join).hasMessageContaining(why);
  }

  @Test
  void whatTheSchemaHeldAllowsNeedsNoOther() {
    assertThat(check.operation(Mutation.of("r").put("f", "q", "v"), DEADLINE)).isCompleted();
    assertThat(check.query(RowQuery.ALL.family("f"), DEADLINE)).isCompleted();
    assertThat(reads).isZero();
  }

  @Test
  void whatNoSchemaAllowsIsRefusedWithoutReadingIt() {
    refused(check.operation(Mutation.of("r"), DEADLINE), "has no edits");
    refused(
        check.operation(Mutation.of("r").put("f", "q", "12345678901"), DEADLINE), "has 11 bytes");
    assertThat(reads).isZero();
  }

  @Test
  void anUnknownFamilyIsLookedForInAFresherSchema() {
    source.addAll(List.of(TableSchema.of("t", "f", "g"), TableSchema.of("t", "f", "g")));
    assertThat(check.operation(Mutation.of("r").put("g", "q", "v"), DEADLINE)).isCompleted();
    assertThat(check.query(RowQuery.ALL.family("g"), DEADLINE)).isCompleted();
    assertThat(reads).isEqualTo(1);
    assertThat(check.schema()).isEqualTo(TableSchema.of("t", "f", "g"));
    refused(
        check.query(RowQuery.ALL.family("h"), DEADLINE),
        "table t has no family \"h\": it has f, g");
    assertThat(reads).isEqualTo(2);
  }

  @Test
  void whatIsNotSentAsTheSchemaCannotBeReadMayBeTriedLater() {
    assertThatThrownBy(() -> check.query(RowQuery.ALL.family("g"), DEADLINE).join())
        .hasRootCauseMessage("no answer")
        .hasRootCauseInstanceOf(IOException.class)
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
  }
}
