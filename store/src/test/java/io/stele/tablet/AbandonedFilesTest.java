package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class AbandonedFilesTest {
  private static final Path ONE = new Path("/t/1.sst");
  private static final Path TWO = new Path("/t/2.sst");

  private final Set<Path> there = new TreeSet<>(List.of(ONE, TWO));
  private final Set<Path> stuck = new TreeSet<>();
  private final List<Path> asked = new ArrayList<>();

  /** Deletes what is there, but for what is stuck. */
  private final AbandonedFiles abandoned =
      new AbandonedFiles(
          new FilterFileSystem() {
            @Override
            public boolean delete(Path path, boolean recursive) throws IOException {
              assertThat(recursive).isFalse();
              asked.add(path);
              if (stuck.contains(path)) {
                throw new IOException("the NameNode is away");
              }
              return there.remove(path);
            }
          });

  @Test
  void whatIsAbandonedIsDeletedAndForgotten() {
    assertThat(abandoned.isEmpty()).isTrue();
    abandoned.add(ONE);
    assertThat(abandoned.isEmpty()).isFalse();
    abandoned.delete();
    assertThat(there).containsExactly(TWO);
    assertThat(abandoned.isEmpty()).isTrue();
    abandoned.delete();
    assertThat(asked).containsExactly(ONE);
  }

  @Test
  void whatCannotBeDeletedIsTriedAgainAndDoesNotKeepTheOthers() {
    stuck.add(ONE);
    abandoned.add(ONE);
    abandoned.add(TWO);
    abandoned.delete();
    assertThat(there).containsExactly(ONE);
    assertThat(abandoned.isEmpty()).isFalse();
    stuck.clear();
    abandoned.delete();
    assertThat(there).isEmpty();
    assertThat(abandoned.isEmpty()).isTrue();
    assertThat(asked).containsExactly(ONE, TWO, ONE);
  }

  @Test
  void whatNeverCameToBeIsForgotten() {
    there.clear();
    abandoned.add(ONE);
    abandoned.delete();
    assertThat(abandoned.isEmpty()).isTrue();
  }
}
