package io.stele.cli.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose files an embedded Hadoop may delete. */
class WorkDirectoryTest {
  @TempDir private Path temporary;

  @Test
  void aDirectoryWithFilesOfOthersIsRefusedAndKeepsThem() throws Exception {
    Path project = Files.createDirectories(temporary.resolve("project/target"));
    Files.writeString(project.resolve("App.class"), "compiled");
    assertThatThrownBy(() -> EmbeddedHadoop.start(EmbeddedHadoop.Options.in(project.getParent())))
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessageContaining("such as target")
        .hasMessageContaining("a new or an empty directory");
    assertThat(project.resolve("App.class")).hasContent("compiled");
    assertThat(project.getParent()).isDirectoryNotContaining("glob:**/.embedded-hadoop");
  }

  @Test
  void aDirectoryThatWasClaimedIsEmptiedOfWhatAnEmbeddedHadoopMakes() throws Exception {
    Path work = temporary.resolve("new");
    WorkDirectory.claim(work);
    Files.createDirectories(work.resolve("hdfs/data"));
    Files.writeString(work.resolve("hdfs/data/block"), "b");
    Files.writeString(work.resolve("stele-site.xml"), "<configuration/>");
    WorkDirectory.claim(work);
    WorkDirectory.empty(work);
    assertThat(work.resolve("hdfs")).doesNotExist();
    assertThat(work.resolve("stele-site.xml")).exists();
  }

  @Test
  void aDirectoryWhoseNameHadoopCannotUseIsRefusedBeforeItIsMade() {
    Path blank = temporary.resolve("a checkout");
    assertThatThrownBy(() -> WorkDirectory.claim(blank))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("without blanks")
        .hasMessageContaining("--dir");
    assertThat(blank).doesNotExist();
  }
}
