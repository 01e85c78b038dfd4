package io.stele.wire;

import io.stele.format.ByteWriter;
import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.ColumnKey;
import io.stele.format.MutationBlock;
import io.stele.model.Bytes;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.OperationRules;
import io.stele.model.Outstanding;
import io.stele.model.SteleException;
import io.stele.runtime.MemoryClaim;
import io.stele.wire.data.DataProtos.MutateProto;
import io.stele.wire.data.DataProtos.MutationProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The mutations of one request to one tablet server, collected by a client.
 *
 * <p>Not safe for use by several threads.
 */
public final class MutateBatch {
  /** Objects for a mutation, and on its way to the log. */
  private static final int MUTATION_BYTES = 1000;

  private static final int BODY_BYTES_LEAST = 256;
  private static final int BODY_BYTES_MOST = 1 << 20;

  private final MutateProto.Builder header = MutateProto.newBuilder();
  private final Map<TabletProto, Integer> tablets = new HashMap<>();
  private final CellBlockWriter blocks;
  private Optional<OperationId> anyId = Optional.empty();

  /** An empty batch of a few mutations. */
  public MutateBatch() {
    this(0);
  }

  /**
   * An empty batch.
   *
   * @param bodyBytes about how long its body will be
   */
  public MutateBatch(long bodyBytes) {
    long room = Math.max(BODY_BYTES_LEAST, Math.min(bodyBytes, BODY_BYTES_MOST));
    this.blocks = CellBlockWriter.sequential((int) room);
  }

  /**
   * One mutation as a server finds it.
   *
   * @param tablet whose row it changes
   * @param id by which a retry is told
   * @param durability what its acknowledgement must promise at least
   */
  public record Entry(
      TabletProto tablet, Optional<OperationId> id, Durability durability, Mutation mutation) {}

  /**
   * Adds a mutation.
   *
   * @param id by which a retry is told; none: a retry may be applied again
   * @param durability what its acknowledgement must promise at least
   * @throws SteleException REFUSED if the mutation has no edits
   * @throws IllegalArgumentException if the id is another client's than those before
   */
  public MutateBatch add(
      TabletProto tablet, Optional<OperationId> id, Durability durability, Mutation mutation) {
    OperationRules.checkHasEdits(mutation);
    MutationProto.Builder to =
        MutationProto.newBuilder().setDurability(OperationCodec.encode(durability));
    if (id.isPresent()) {
      if (anyId.isPresent() && !sameClient(anyId.get(), id.get())) {
        throw new IllegalArgumentException(
            "all operations of a batch must be of one client: " + anyId + ", " + id);
      }
      anyId = id;
      to.setOperation(id.get().number());
    }
    int before = blocks.size();
    blocks.beginNext();
    MutationBlock.write(mutation, 0, Edit.SERVER_TIMESTAMP, blocks);
    header.addMutations(to.setTablet(indexOf(tablet)).setBlockBytes(blocks.size() - before));
    return this;
  }

  /** Length of the body so far, in bytes. */
  public int bodyBytes() {
    return blocks.size();
  }

  /**
   * The request's header.
   *
   * @param outstanding the client's operations still without an answer
   */
  public RequestProto header(Outstanding outstanding) {
    anyId.ifPresent(id -> header.setOperations(OperationCodec.operations(id, outstanding)));
    return RequestProto.newBuilder().setMutate(header.build()).build();
  }

  /** The request's body; valid until the next mutation is added. */
  public ByteBuffer body() {
    ByteWriter body = blocks.finish();
    return ByteBuffer.wrap(body.array(), 0, body.size());
  }

  /**
   * The mutations in a request.
   *
   * @param body backed by an array, which the values share: it must not change any more
   * @param memory asked for what the mutations take beside it, until they are applied
   * @throws SteleException REFUSED if the request is not one of mutations, or what {@code memory}
   *     throws
   */
  public static List<Entry> decode(MutateProto message, ByteBuffer body, MemoryClaim memory) {
    MemoryClaim small = memory.inSteps();
    List<Entry> entries = new ArrayList<>(message.getMutationsCount());
    int offset = body.arrayOffset() + body.position();
    int end = body.arrayOffset() + body.limit();
    for (MutationProto mutation : message.getMutationsList()) {
      int length = mutation.getBlockBytes();
      int tablet = mutation.getTablet();
      if (length < 1
          || length > end - offset
          || tablet < 0
          || tablet >= message.getTabletsCount()) {
        throw SteleException.refused(
            "mutation " + entries.size() + " of a request refers to bytes outside the request");
      }
      Optional<OperationId> id =
          mutation.hasOperation()
              ? Optional.of(OperationCodec.id(message.getOperations(), mutation.getOperation()))
              : Optional.empty();
      small.take(MUTATION_BYTES);
      CellBlockCursor cells = CellBlockCursor.sequential(body.array(), offset, length);
      Bytes row = firstRow(cells);
      entries.add(
          new Entry(
              message.getTablets(tablet),
              id,
              OperationCodec.decode(mutation.getDurability()),
              OperationCodec.decode(row, cells, small)));
      offset += length;
    }
    return entries;
  }

  /** The row of the first cell; the cursor is before that again. */
  private static Bytes firstRow(CellBlockCursor cells) {
    try {
      cells.next();
      Bytes row = ColumnKey.row(cells.key(), cells.keyLength());
      cells.rewind();
      return row;
    } catch (IOException e) {
      throw new SteleException(
          SteleException.Code.REFUSED, "a mutation names no row: " + e.getMessage(), e);
    }
  }

  private int indexOf(TabletProto tablet) {
    Integer known = tablets.putIfAbsent(tablet, tablets.size());
    if (known == null) {
      header.addTablets(tablet);
      return tablets.size() - 1;
    }
    return known;
  }

  private static boolean sameClient(OperationId a, OperationId b) {
    return a.clientHigh() == b.clientHigh() && a.clientLow() == b.clientLow();
  }
}
