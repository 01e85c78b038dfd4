package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.stele.model.SteleException;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.net.ConnectTimeoutException;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.util.Records;
import org.junit.jupiter.api.Test;

final class ApplicationAskerTest {
  private final ApplicationReport report = Records.newRecord(ApplicationReport.class);

  private SteleException told(IOException failure) {
    return catchThrowableOfType(
        SteleException.class, () -> ApplicationAsker.unanswered(report, failure));
  }

  @Test
  void anApplicationMasterThatWasNotReachedDoesNotAnswerAndNothingWasChanged() {
    for (IOException failure :
        List.of(
            new ConnectException(),
            new ConnectTimeoutException("20 s"),
            new NoRouteToHostException(),
            new UnknownHostException("gone"))) {
      assertThat(told(failure).code())
          .as(failure.toString())
          .isEqualTo(SteleException.Code.RETRY_LATER);
      assertThat(told(failure)).hasMessageContaining("does not answer");
    }
  }

  @Test
  void aRequestWhoseAnswerWasLostMayHaveBeenDone() {
    for (IOException failure : List.of(new SocketTimeoutException("5 s"), new EOFException())) {
      assertThat(told(failure).code())
          .as(failure.toString())
          .isEqualTo(SteleException.Code.OUTCOME_UNKNOWN);
    }
  }

  @Test
  void aFailureThatItAnswersWithIsPassedOn() {
    RemoteException answer = new RemoteException("a.Failure", "planted");
    assertThat(ApplicationAsker.unanswered(report, answer)).isSameAs(answer);
  }
}
