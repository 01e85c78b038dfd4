package io.stele.mapreduce;

import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.MutationBlock;
import io.stele.model.Bytes;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.wire.RowCodec;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.io.serializer.Deserializer;
import org.apache.hadoop.io.serializer.Serialization;
import org.apache.hadoop.io.serializer.Serializer;

/**
 * Lets {@link Bytes}, {@link Row} and {@link Mutation} go through the shuffle as they are. {@link
 * SteleJob} registers it.
 *
 * <p>Bytes are a length and the bytes; rows and mutations are their key, and a cell block with its
 * length before it.
 */
public final class ModelSerialization implements Serialization<Object> {
  private static final Set<Class<?>> TYPES = Set.of(Bytes.class, Row.class, Mutation.class);

  @Override
  public boolean accept(Class<?> type) {
    return TYPES.contains(type);
  }

  @Override
  public Serializer<Object> getSerializer(Class<Object> type) {
    return new Writer();
  }

  @Override
  public Deserializer<Object> getDeserializer(Class<Object> type) {
    return new Reader(type);
  }

  private static final class Writer implements Serializer<Object> {
    private DataOutputStream out = new DataOutputStream(OutputStream.nullOutputStream());

    @Override
    public void open(OutputStream stream) {
      out = new DataOutputStream(stream);
    }

    @Override
    public void serialize(Object value) throws IOException {
      if (value instanceof Bytes bytes) {
        write(bytes);
      } else if (value instanceof Mutation mutation) {
        write(mutation.row());
        CellBlockWriter block = CellBlockWriter.sequential(256);
        MutationBlock.write(mutation, 0, Edit.SERVER_TIMESTAMP, block);
        write(RowCodec.body(block));
      } else {
        Row row = (Row) value;
        write(row.key());
        CellBlockWriter block = CellBlockWriter.sequential(256);
        RowCodec.write(row, block);
        write(RowCodec.body(block));
      }
      out.flush();
    }

    private void write(Bytes bytes) throws IOException {
      WritableUtils.writeVInt(out, bytes.length());
      out.write(bytes.toByteArray());
    }

    private void write(ByteBuffer block) throws IOException {
      WritableUtils.writeVInt(out, block.remaining());
      out.write(block.array(), block.arrayOffset() + block.position(), block.remaining());
    }

    @Override
    public void close() throws IOException {
      out.close();
    }
  }

  private static final class Reader implements Deserializer<Object> {
    private final Class<Object> type;
    private DataInputStream in = new DataInputStream(InputStream.nullInputStream());

    Reader(Class<Object> type) {
      this.type = type;
    }

    @Override
    public void open(InputStream stream) {
      in = new DataInputStream(stream);
    }

    @Override
    public Object deserialize(Object reused) throws IOException {
      Bytes key = Bytes.wrap(read());
      if (type.equals((Class<?>) Bytes.class)) {
        return key;
      }
      byte[] block = read();
      if (type.equals((Class<?>) Mutation.class)) {
        return MutationBlock.read(key, CellBlockCursor.sequential(block, 0, block.length));
      }
      List<Row> rows = RowCodec.read(ByteBuffer.wrap(block));
      return rows.isEmpty() ? new Row(key, List.of()) : rows.get(0);
    }

    private byte[] read() throws IOException {
      byte[] bytes = new byte[WritableUtils.readVInt(in)];
      in.readFully(bytes);
      return bytes;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
