package io.stele.wire;

import io.stele.wire.data.DataProtos.ResponseProto;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Handles requests by holding them, until a test answers them. Safe for any number of threads. */
final class HeldRequests implements RequestHandler {
  private final List<Responder> held = new CopyOnWriteArrayList<>();

  @Override
  public void handle(Request request, Responder responder) {
    held.add(responder);
  }

  /** Waits until so many are held. */
  void await(int count) throws InterruptedException {
    DataPlaneFixture.await(() -> held.size() == count);
  }

  /** The one that came first, which is not held any more. */
  Responder first() {
    return held.remove(0);
  }

  /** The one that came second, which goes on to be held. */
  Responder second() {
    return held.get(1);
  }

  /** Answers all that are held, which go on to be counted. */
  void answerAll(ResponseProto answer) {
    held.forEach(responder -> responder.answer(answer));
  }

  void answerAll(ResponseProto answer, ByteBuffer body) {
    held.forEach(responder -> responder.answer(answer, body.duplicate()));
  }
}
