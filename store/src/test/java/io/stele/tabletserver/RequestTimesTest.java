package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.SteleException;
import io.stele.runtime.ForwardingRuntime;
import io.stele.wire.Responder;
import io.stele.wire.data.DataProtos.OutcomeProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestTimesTest {
  private long nowNanos;
  private final RequestTimes times =
      new RequestTimes(
          new ForwardingRuntime() {
            @Override
            public long nanoTime() {
              return nowNanos;
            }
          });
  private final List<ResponseProto> answers = new ArrayList<>();
  private final Responder responder =
      new Responder() {
        @Override
        public void answer(ResponseProto response, ByteBuffer body) {
          answers.add(response);
        }
      };

  private Responder begun() {
    Responder begun = times.begin(RequestTimes.Kind.MUTATE, responder);
    nowNanos += Duration.ofMillis(3).toNanos();
    return begun;
  }

  @Test
  void anAnswerIsPassedOnAndItsTimeCounted() {
    begun().answer(ResponseProto.getDefaultInstance());
    begun().answer(ResponseProto.newBuilder().setStatus(StatusProto.OK).build());
    assertThat(answers).hasSize(2);
    assertThat(times.of(RequestTimes.Kind.MUTATE).count()).isEqualTo(2);
    assertThat(times.of(RequestTimes.Kind.MUTATE).mean()).isEqualTo(Duration.ofMillis(3));
    assertThat(times.of(RequestTimes.Kind.READ).count()).isZero();
  }

  @Test
  void whatWasNotServedDoesNotCount() {
    begun().fail(SteleException.retryLater("full"));
    begun()
        .answer(
            ResponseProto.newBuilder()
                .setStatus(StatusProto.OK)
                .addOutcomes(OutcomeProto.newBuilder().setStatus(StatusProto.NOT_SERVING_TABLET))
                .build());
    assertThat(answers).hasSize(2);
    assertThat(times.of(RequestTimes.Kind.MUTATE).count()).isZero();
  }
}
