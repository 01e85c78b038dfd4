package io.stele.mapreduce.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import org.junit.jupiter.api.Test;

class VerifyTableTest {
  @Test
  void onlyWhatNoAttemptCanReadIsDamage() {
    assertThat(VerifyTable.isDamage(new CorruptionException("f", 1, "a block"))).isTrue();
    assertThat(VerifyTable.isDamage(new IOException("of t", new FileNotFoundException()))).isTrue();
    assertThat(
            VerifyTable.isDamage(new SteleException(SteleException.Code.CORRUPTION, "of a tablet")))
        .isTrue();
    assertThat(VerifyTable.isDamage(SteleException.retryLater("a server is away"))).isFalse();
    assertThat(VerifyTable.isDamage(SteleException.refused("the job is over"))).isFalse();
    assertThat(VerifyTable.isDamage(new IOException("no DataNode answers"))).isFalse();
    assertThat(VerifyTable.isDamage(new InterruptedIOException())).isFalse();
  }
}
