package io.stele.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.record.FileRef;
import io.stele.record.PendingFile;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Lists of a job's files, whole and damaged. */
class FileListTest {
  private static FileRef file(String job, String name) {
    return PendingFile.unnumbered(
        PendingFile.directory(job) + "/" + name,
        1234,
        new RowRange(Bytes.of("a\u0000"), Bytes.of("m")),
        List.of("f", "g"));
  }

  private static final Map<TableId, List<FileRef>> FILES =
      Map.of(
          new TableId("t1"), List.of(file("job", "1-0.sst"), file("job", "1-1.sst")),
          new TableId("t2"), List.of());

  @Test
  void whatIsWrittenIsRead() throws IOException {
    assertThat(FileList.decode("job", FileList.encode(FILES), "list")).isEqualTo(FILES);
    assertThat(FileList.decode("job", FileList.encode(Map.of()), "list")).isEmpty();
  }

  @Test
  void noDamageGoesUnnoticed() {
    byte[] whole = FileList.encode(FILES);
    for (int i = 0; i < whole.length; i++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] damaged = whole.clone();
        damaged[i] ^= (byte) (1 << bit);
        assertThatThrownBy(() -> FileList.decode("job", damaged, "list"))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("list");
      }
    }
    for (int length = 0; length < whole.length; length++) {
      byte[] torn = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> FileList.decode("job", torn, "list"))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void filesOfAnotherJobAreRefused() {
    byte[] list = FileList.encode(Map.of(new TableId("t1"), List.of(file("other", "1-0.sst"))));
    assertThatThrownBy(() -> FileList.decode("job", list, "list"))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("other");
  }
}
