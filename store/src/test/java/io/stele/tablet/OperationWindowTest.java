package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.format.ByteReader;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class OperationWindowTest {
  @Test
  void aBlockHasItsClientsInAscendingOrder() throws Exception {
    OperationWindow window = new OperationWindow(1000);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 50; i++) {
      OperationId id = new OperationId(random.nextLong(), random.nextLong(), 1);
      window.abandon(
          window.begin(id, 1, Bytes.ofLong(i), 5, new CompletableFuture<>()).operation());
    }
    for (Bytes block : List.of(window.encodeRecent(0, 10, 5), window.encodeWritten())) {
      assertThat(clients(block)).hasSize(50).isSorted();
    }
  }

  /** The high halves of the names of a block's clients, which have no operations. */
  private static List<Long> clients(Bytes block) throws Exception {
    ByteReader in = new ByteReader(block.toByteArray());
    in.readByte();
    List<Long> clients = new ArrayList<>();
    while (in.remaining() > 0) {
      clients.add(in.readLong());
      in.readLong();
      in.readVarlong();
      in.readVarlong();
      assertThat(in.readVarint()).isZero();
    }
    return clients;
  }
}
