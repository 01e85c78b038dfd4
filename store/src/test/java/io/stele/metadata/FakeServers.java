package io.stele.metadata;

import io.stele.format.CellBlockWriter;
import io.stele.format.RowCodec;
import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.OperationForgottenException;
import io.stele.model.OperationId;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.MemoryClaim;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.Address;
import io.stele.wire.CallException;
import io.stele.wire.DataPlane;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.OperationCodec;
import io.stele.wire.QueryCodec;
import io.stele.wire.Response;
import io.stele.wire.StatusCodec;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import io.stele.wire.data.DataProtos.StatusProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Servers that hold tablets, behind a data plane in memory. Rows are kept by table, so that they
 * move with the tablets.
 */
final class FakeServers implements DataPlane {
  private final ProcessRuntime runtime;
  private final Duration latency;
  final Map<TableId, MemoryRows> rows = new HashMap<>();
  final Map<Address, Set<TabletId>> served = new HashMap<>();
  final Map<OperationId, ResponseProto> remembered = new HashMap<>();
  final List<String> calls = new ArrayList<>();

  /** When each read of a table was asked for, by the monotonic clock. */
  final Map<TableId, List<Long>> reads = new HashMap<>();

  /** The tablet that pings are for. */
  TabletId pinged = TabletId.ROOT;

  Function<RequestProto, Optional<StatusProto>> afterwards = request -> Optional.empty();

  /** Operations that the tablets may have forgotten: they refuse them. */
  Predicate<OperationId> forgotten = id -> false;

  /** How long callers waited for answers that did not come. */
  final List<Duration> timeouts = Collections.synchronizedList(new ArrayList<>());

  /** Requests whose answers are lost: the caller hears nothing until its timeout. */
  Predicate<RequestProto> silent = request -> false;

  /** Servers whose answers take so long; none at all: they are there when the call returns. */
  FakeServers(ProcessRuntime runtime, Duration latency) {
    this.runtime = runtime;
    this.latency = latency;
  }

  synchronized void serve(ServerId server, TabletId tablet) {
    served.computeIfAbsent(address(server), a -> new HashSet<>()).add(tablet);
  }

  synchronized void stop(ServerId server, TabletId tablet) {
    served.get(address(server)).remove(tablet);
  }

  @Override
  public CompletableFuture<Response> call(
      Address server,
      RequestProto request,
      ByteBuffer body,
      Duration timeout,
      Consumer<CompletableFuture<Response>> waiting) {
    CompletableFuture<Response> answer = now(server, request);
    if (silent.test(request)) {
      timeouts.add(timeout);
      CompletableFuture<Response> none = new CompletableFuture<>();
      runtime.after(
          timeout, () -> none.completeExceptionally(new CallException("no answer", true)));
      checkLater(none, waiting);
      return none;
    }
    if (latency.isZero()) {
      return answer;
    }
    CompletableFuture<Response> late = new CompletableFuture<>();
    runtime.after(
        latency,
        () ->
            answer.whenComplete(
                (response, failure) -> {
                  if (failure == null) {
                    late.complete(response);
                  } else {
                    late.completeExceptionally(failure);
                  }
                }));
    return late;
  }

  private void checkLater(
      CompletableFuture<Response> none, Consumer<CompletableFuture<Response>> waiting) {
    runtime.after(
        CHECK_EVERY,
        () -> {
          if (!none.isDone()) {
            waiting.accept(none);
            checkLater(none, waiting);
          }
        });
  }

  private synchronized CompletableFuture<Response> now(Address server, RequestProto request) {
    calls.add(request.getMethodCase() + " " + server);
    if (request.hasRead()) {
      TabletId tablet = QueryCodec.decode(request.getRead().getTablet());
      reads.computeIfAbsent(tablet.table(), table -> new ArrayList<>()).add(runtime.nanoTime());
    }
    try {
      Response response = answer(server, request);
      Optional<StatusProto> instead = afterwards.apply(request);
      return CompletableFuture.completedFuture(
          instead.isEmpty()
              ? response
              : new Response(
                  ResponseProto.newBuilder().setStatus(instead.get()).setMessage("lost").build(),
                  EMPTY));
    } catch (SteleException e) {
      return CompletableFuture.completedFuture(new Response(StatusCodec.response(e), EMPTY));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private Response answer(Address server, RequestProto request) throws IOException {
    return switch (request.getMethodCase()) {
      case READ -> {
        TabletId tablet = QueryCodec.decode(request.getRead().getTablet());
        check(server, tablet);
        RowQuery query = QueryCodec.decode(request.getRead().getQuery());
        CellBlockWriter block = CellBlockWriter.sequential(256);
        for (Row row :
            rows.get(tablet.table()).scan(query.ranges().get(0), (int) query.rowLimit())) {
          RowCodec.write(row, block);
        }
        yield new Response(
            ResponseProto.newBuilder().setStatus(StatusProto.OK).build(),
            ByteBuffer.wrap(copy(RowCodec.body(block))));
      }
      case CHECK_AND_MUTATE -> {
        var message = request.getCheckAndMutate();
        TabletId tablet = QueryCodec.decode(message.getTablet());
        check(server, tablet);
        OperationId id = OperationCodec.id(message).orElseThrow();
        if (forgotten.test(id)) {
          throw new OperationForgottenException("forgotten");
        }
        ResponseProto known = remembered.get(id);
        if (known == null) {
          known = apply(rows.get(tablet.table()), OperationCodec.decode(message, MemoryClaim.NONE));
          remembered.put(id, known);
        }
        yield new Response(known, EMPTY);
      }
      default -> {
        check(server, pinged);
        yield new Response(ResponseProto.newBuilder().setStatus(StatusProto.OK).build(), EMPTY);
      }
    };
  }

  private static ResponseProto apply(MemoryRows rows, CheckAndMutate operation) {
    boolean matched;
    if (operation.predicate() instanceof Filter.Chain chain) {
      Column column = ((Filter.ColumnIs) chain.filters().get(0)).column();
      Bytes value = ((Filter.ValueIs) chain.filters().get(2)).value();
      matched = rows.value(operation.row(), column).equals(Optional.of(value));
    } else {
      Column column = ((Filter.ColumnIs) operation.predicate()).column();
      matched = rows.value(operation.row(), column).isPresent();
    }
    rows.apply(matched ? operation.ifTrue() : operation.ifFalse());
    return ResponseProto.newBuilder().setStatus(StatusProto.OK).setMatched(matched).build();
  }

  private void check(Address server, TabletId tablet) {
    if (!served.getOrDefault(server, Set.of()).contains(tablet)) {
      throw new NotServingTabletException(tablet + " is not at " + server);
    }
  }

  private static byte[] copy(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  private static Address address(ServerId server) {
    return new Address(server.host(), server.port());
  }
}
