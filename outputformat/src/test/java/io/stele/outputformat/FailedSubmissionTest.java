package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FailedSubmissionTest {
  /** Fails whatever it is asked for. */
  private static Configuration failing(Throwable failure) {
    return new Configuration(false) {
      @Override
      public String get(String name) {
        if (failure instanceof Error error) {
          throw error;
        }
        throw (RuntimeException) failure;
      }

      @Override
      public String get(String name, String unset) {
        return get(name);
      }
    };
  }

  @Test
  void aJobIsEndedWhateverFailsWhileItIsSubmitted() throws IOException {
    try (MiniStele cluster =
            MiniStele.start(MiniStele.quick(new Configuration(false)), Site.inMemory(), 1, 1);
        Stele stele = cluster.client()) {
      stele.admin().createTable(TableSchema.of("t", "f"));
      for (Throwable failure :
          List.of(SteleException.refused("wrong"), new NoClassDefFoundError("not in the jars"))) {
        String job = stele.jobs().begin(Duration.ofMinutes(10));
        assertThatThrownBy(() -> BulkOutputFormat.makeDirectory(stele, failing(failure), job))
            .isSameAs(failure);
        assertThat(failure.getSuppressed()).isEmpty();
        assertThat(stele.admin().listJobs()).as("after " + failure).isEmpty();
      }
    }
  }
}
