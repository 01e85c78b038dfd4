package io.stele.master;

import io.stele.runtime.ProcessRuntime;
import java.util.ServiceLoader;
import org.apache.hadoop.conf.Configuration;

/**
 * The framework that runs jobs, such as YARN: tells whether a job's application still runs, where
 * that can be found out. Safe for use by any number of threads.
 */
public interface Applications extends AutoCloseable {
  /** No framework to ask. */
  Applications NONE =
      new Applications() {
        @Override
        public State state(String application) {
          return State.UNKNOWN;
        }

        @Override
        public void close() {}
      };

  /** Service interface, implemented by the module that knows YARN. */
  interface Provider {
    /** The applications of the cluster that {@code conf} names; {@link #NONE} if it names none. */
    Applications open(Configuration conf, ProcessRuntime runtime);
  }

  /** What the first provider on the class path finds. */
  static Applications find(Configuration conf, ProcessRuntime runtime) {
    return ServiceLoader.load(Provider.class)
        .findFirst()
        .map(provider -> provider.open(conf, runtime))
        .orElse(NONE);
  }

  /** What is known of an application. */
  enum State {
    /** It waits to run, or runs. */
    ALIVE,
    /** It has ended, and never runs again. */
    ENDED,
    /** It is not known there, or not yet, or cannot be asked for now. */
    UNKNOWN
  }

  /** The state of an application; may take some seconds, and never fails. */
  State state(String application);

  @Override
  void close();
}
