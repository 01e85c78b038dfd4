package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Mutation;
import io.stele.model.SteleException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class AsyncWritesTest {
  private final ArrayDeque<CompletableFuture<String>> sent = new ArrayDeque<>();

  private CompletableFuture<String> send() {
    sent.add(new CompletableFuture<>());
    return sent.getLast();
  }

  private CompletableFuture<String> write(AsyncWrites writes, int count, int valueBytes) {
    Mutation one = Mutation.of("r").put("f", "", "v".repeat(valueBytes));
    return writes.admit(Collections.nCopies(count, one), this::send);
  }

  private static void assertFull(CompletableFuture<String> write) {
    assertThatThrownBy(write::join)
        .cause()
        .isInstanceOfSatisfying(
            SteleException.class,
            e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER));
  }

  @Test
  void operationsAreBounded() {
    AsyncWrites writes = new AsyncWrites(10, 1 << 20);
    CompletableFuture<String> first = write(writes, 6, 1);
    write(writes, 4, 1);
    assertFull(write(writes, 1, 1));
    assertThat(sent).as("what was refused was not sent").hasSize(2);
    sent.remove().complete("done");
    assertThat(first).isCompletedWithValue("done");
    assertThat(write(writes, 6, 1)).isNotDone();
    assertFull(write(writes, 1, 1));
  }

  @Test
  void bytesAreBounded() {
    AsyncWrites writes = new AsyncWrites(10, 2500);
    write(writes, 2, 1000);
    assertFull(write(writes, 1, 1000));
    sent.remove().completeExceptionally(new IllegalStateException("a failure"));
    assertThat(write(writes, 1, 1000)).isNotDone();
  }

  @Test
  void oneCallOfAnySizeIsAdmitted() {
    AsyncWrites writes = new AsyncWrites(10, 2500);
    assertThat(write(writes, 20, 1000)).isNotDone();
    assertFull(write(writes, 1, 1));
    sent.remove().complete("done");
    assertThat(write(writes, 1, 1)).isNotDone();
  }

  @Test
  void aWriteWhoseFutureIsCancelledIsStillUnderWay() {
    AsyncWrites writes = new AsyncWrites(1, 2500);
    write(writes, 1, 1).cancel(false);
    assertFull(write(writes, 1, 1));
    sent.remove().complete("done");
    write(writes, 1, 1).completeExceptionally(new TimeoutException("as orTimeout does"));
    assertFull(write(writes, 1, 1));
    sent.remove().complete("done");
    assertThat(write(writes, 1, 1)).isNotDone();
  }

  @Test
  void aCallThatThrowsTakesNoRoom() {
    AsyncWrites writes = new AsyncWrites(1, 2500);
    assertThatThrownBy(
            () ->
                writes.<String>admit(
                    List.of(Mutation.of("r")),
                    () -> {
                      throw new IllegalStateException("planted");
                    }))
        .hasMessage("planted");
    assertThat(write(writes, 1, 1)).isNotDone();
  }
}
