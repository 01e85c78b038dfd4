package io.stele.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MemoryLockStore;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TableNamesTest {
  private final LockService locks = new MemoryLockStore().connect(Runnable::run);
  private final TableNames names = new TableNames(SystemRuntime.INSTANCE, locks);

  private static SchemaChange change(Bytes splitRow) {
    return new SchemaChange(
        "one",
        1,
        SchemaChange.Step.WRITE_NODE,
        new TableId("t1"),
        Optional.empty(),
        List.of(splitRow),
        0,
        RowRange.ALL);
  }

  @Test
  void aNameThatAnotherWroteMeanwhileIsNotWritten() throws IOException {
    TableName before = names.read("users");
    assertThat(names.write(before, before.with(change(Bytes.of("a"))))).isTrue();
    assertThat(names.write(before, before.with(change(Bytes.of("b"))))).isFalse();
    assertThat(names.read("users").running()).contains(change(Bytes.of("a")));
  }

  @Test
  void whatIsTooLargeForANodeIsRefusedThoughAnotherWroteTheNameMeanwhile() throws IOException {
    TableName before = names.read("users");
    assertThat(names.write(before, before.with(change(Bytes.of("a"))))).isTrue();
    Bytes large = Bytes.wrap(new byte[LockService.DATA_BYTES_MAX]);
    assertThatThrownBy(() -> names.write(before, before.with(change(large))))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED));
  }
}
