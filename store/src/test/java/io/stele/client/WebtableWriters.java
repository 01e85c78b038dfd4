package io.stele.client;

import io.stele.metadata.Operations;
import io.stele.model.Durability;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.TableSchema;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Makes batch writers of the table {@code webtable}, which has the family {@code f} and values of
 * at most 1,000 bytes.
 */
final class WebtableWriters {
  /** The first operation of a task. */
  static final OperationId FIRST = new OperationId(1, 2, 1);

  private final ProcessRuntime runtime;
  private final Tablets tablets;
  private Duration timeout = Duration.ofSeconds(30);
  private long bufferBytes = 1 << 20;
  private Operations operations;

  /** Writers of a task, until something else is said. */
  WebtableWriters(Tablets tablets) {
    this(SystemRuntime.INSTANCE, tablets);
  }

  WebtableWriters(ProcessRuntime runtime, Tablets tablets) {
    this.runtime = runtime;
    this.tablets = tablets;
    this.operations = ofTask(FIRST);
  }

  /** Operations that another attempt of a task repeats under the same ids. */
  private static Operations ofTask(OperationId first) {
    return Operations.repeatable(SystemRuntime.INSTANCE, first, Optional.empty());
  }

  static Mutation mutation(String row, String value) {
    return Mutation.of(row).put("f", "", value);
  }

  WebtableWriters timeout(Duration each) {
    timeout = each;
    return this;
  }

  WebtableWriters bufferBytes(long bytes) {
    bufferBytes = bytes;
    return this;
  }

  /** Writers that go on after a failure; one of a task sends nothing more. */
  WebtableWriters ofNoTask() {
    operations = new Operations(runtime);
    return this;
  }

  WebtableWriters ofTaskFrom(OperationId first) {
    operations = ofTask(first);
    return this;
  }

  BatchWriter open() {
    return open(batcher());
  }

  /** A writer that shares the batcher with others. */
  BatchWriter open(Batcher batcher) {
    return new BatchWriter(schema(), batches(batcher), bufferBytes, Durability.HFLUSH);
  }

  /** A writer that waits for its oldest operation once so many are ahead of it. */
  BatchWriter openAheadBy(int aheadMax) {
    return new BatchWriter(schema(), batches(batcher()), bufferBytes, aheadMax, Durability.HFLUSH);
  }

  Batcher batcher() {
    return new Batcher(runtime, tablets, FakeTablets.TABLE);
  }

  private Batcher.Writer batches(Batcher batcher) {
    return batcher.writer(
        new TableRef(Waiting.silent(runtime), FakeTablets.TABLE, "webtable", timeout), operations);
  }

  private static SchemaCheck schema() {
    TableSchema schema = TableSchema.of("webtable", "f");
    return new SchemaCheck(schema, deadline -> CompletableFuture.completedFuture(schema), 1000);
  }
}
