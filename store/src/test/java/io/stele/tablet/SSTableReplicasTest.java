package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.TableSchema;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** SSTables written while DataNodes are missing. */
final class SSTableReplicasTest {
  @Test
  void aFileWithTooFewReplicasIsNotUsedAndIsWrittenAgain() throws IOException {
    TabletFixture fixture = new TabletFixture(TableSchema.of("t", "f"));
    fixture.options = fixture.options.withReplicasMin(2);
    fixture.reopen(fixture.log.crash(0));
    fixture.put("row", "f", "q", 1, "value");
    fixture.fs.disk().dataNodes(1);
    assertThatThrownBy(fixture.tablet::minorCompact)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has only 1 of the 2 replicas");
    assertThat(fixture.tablet.statistics().files()).isZero();
    assertThat(fixture.fs.disk().files()).noneMatch(file -> file.getName().endsWith(".sst"));
    fixture.put("row2", "f", "q", 1, "value");

    fixture.fs.disk().dataNodes(2);
    fixture.tablet.minorCompact();
    assertThat(fixture.tablet.statistics().files()).isEqualTo(1);
    assertThat(fixture.rows()).hasSize(2);
  }
}
