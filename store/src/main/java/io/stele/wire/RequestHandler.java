package io.stele.wire;

/** What a server does with the requests of the data plane. */
@FunctionalInterface
public interface RequestHandler {
  /**
   * Handles one request. Called on the event loop of its connection, which serves many others: what
   * may block goes to another thread. An exception thrown answers the request, unless it has been
   * answered already.
   */
  void handle(Request request, Responder responder);
}
