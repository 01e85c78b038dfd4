package io.stele.sim;

import java.util.ArrayList;
import java.util.List;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.spi.LoggingEvent;

/** Keeps what is logged, from a level on. */
final class LoggedMessages extends AppenderSkeleton {
  private final Level least;
  private final List<String> messages = new ArrayList<>();

  LoggedMessages(Level least) {
    this.least = least;
  }

  List<String> all() {
    return messages;
  }

  @Override
  protected void append(LoggingEvent event) {
    if (event.getLevel().isGreaterOrEqual(least)) {
      messages.add(event.getRenderedMessage());
    }
  }

  @Override
  public void close() {}

  @Override
  public boolean requiresLayout() {
    return false;
  }
}
