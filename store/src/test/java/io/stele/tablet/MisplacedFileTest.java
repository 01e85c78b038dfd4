package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.CorruptionException;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An SSTable that has other operations of the tablet than its record says. */
class MisplacedFileTest {
  @Test
  void aFileInThePlaceOfAnotherIsRefused() throws IOException {
    TabletFixture fixture = new TabletFixture(TableSchema.of("t", "f"));
    fixture.put("a", "f", "q", 1, "first");
    fixture.put("b", "f", "q", 1, "second");
    fixture.tablet.minorCompact();
    fixture.put("a", "f", "q", 2, "third");
    fixture.tablet.minorCompact();
    List<FileRef> files =
        fixture.manifest.record().files().stream()
            .sorted(Comparator.comparingLong(FileRef::minSequence))
            .toList();
    assertThat(files).hasSize(2);
    FileRef first = files.get(0);
    FileRef second = files.get(1);
    SchemaRules rules = new SchemaRules(fixture.tablet.schema());
    FileRef misplaced =
        FileRef.builder(second.path(), second.length(), second.bounds())
            .sequences(first.minSequence(), first.maxSequence())
            .families(second.families())
            .build();
    assertThatThrownBy(() -> TabletFile.open(fixture.environment(), misplaced, rules))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining(second.path())
        .hasMessageContaining("misplaced")
        .hasMessageContaining("operations 3 to 3")
        .hasMessageContaining("says 1 to 2");
    for (FileRef file : files) {
      TabletFile.open(fixture.environment(), file, rules).release();
    }
  }
}
