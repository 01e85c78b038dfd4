package io.stele.sim;

import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.wire.data.DataProtos.RequestProto;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.hadoop.ipc.RpcNoSuchMethodException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.apache.hadoop.thirdparty.protobuf.UnknownFieldSet;

/**
 * Makes some processes of simulated clusters behave as the next version of Stele: their values in
 * METADATA and the lock service have two fields more, their tablet records columns that this
 * version does not know, and so have their requests a field. The others are of this version, but
 * that they know the compaction of tables only by its former request, as if the present one came
 * with the next version.
 *
 * <p>A process that is started again changes its version: so each history upgrades and takes back.
 * What the next version writes is made here without the product's own encoding.
 */
public final class NextVersion {
  private static final String MORE = "what only the next version knows";
  private static final int FLAT = 1;
  private static final int WITH_SCHEMA = 2;
  private static final int CHECKSUM_BYTES = 4;
  private static final int UNKNOWN_FIELD = 9999;

  /** Whose task the thread carries; callbacks count as their caller's. */
  private static final ThreadLocal<String> PROCESS = new ThreadLocal<>();

  /** Values written by processes of the next version, and those read by others. */
  static final AtomicLong WRITTEN = new AtomicLong();

  static final AtomicLong READ = new AtomicLong();

  /** Requests that processes of this version did not know. */
  static final AtomicLong UNKNOWN = new AtomicLong();

  private NextVersion() {}

  /** Processes are of both versions until the result is closed. A class takes one part only. */
  static AutoCloseable plant() {
    List<AutoCloseable> planted = new ArrayList<>();
    for (PlantedFault part :
        List.of(
            part("sim.SimulatedTask", "run", Running.class),
            part("metadata.Avro", "encode", MoreFields.class),
            part("metadata.Assignment", "decode", Reading.class),
            part("metadata.RecordCodec", "putEvent", MoreColumns.class),
            part("sim.SimulatedTransport", "call", MoreInRequests.class),
            part("tabletserver.AdminService", "compactTablets", Unknown.class))) {
      planted.add(part.plant());
    }
    return () -> {
      for (AutoCloseable one : planted) {
        one.close();
      }
    };
  }

  private static PlantedFault part(String className, String method, Class<?> advice) {
    return new PlantedFault(
        method, "io.stele." + className, method, advice, PlantedFault.Where.ANY, Optional.empty());
  }

  /** Whether the code that runs is of the next version. */
  static boolean isNext() {
    String process = PROCESS.get();
    int life = process == null ? -1 : process.lastIndexOf('.');
    if (life < 1) {
      return false; // A client, or no process.
    }
    return (process.charAt(life - 1) + process.charAt(process.length() - 1)) % 2 == 0;
  }

  /** Told which process a thread's task is of. */
  public static void runs(String process) {
    PROCESS.set(process);
  }

  /** The value as the running process writes it. */
  public static Bytes written(Bytes value, Object record) {
    if (!isNext()) {
      return value;
    }
    WRITTEN.incrementAndGet();
    Schema schema = ((SpecificRecordBase) record).getSchema();
    byte[] bytes = value.toByteArray();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteBuffer in = ByteBuffer.wrap(bytes, 0, bytes.length - CHECKSUM_BYTES);
    int format = in.get();
    out.write(format);
    if (format == FLAT) {
      out.write(in.get() + 2);
    } else if (format == WITH_SCHEMA) {
      int length = varint(in);
      in.position(in.position() + length);
      byte[] json = withMore(schema).toString().getBytes(StandardCharsets.UTF_8);
      writeVarint(out, json.length);
      out.writeBytes(json);
    }
    out.write(bytes, in.position(), in.remaining());
    out.writeBytes(more());
    return Bytes.wrap(checked(schema.getName(), out.toByteArray()));
  }

  private static Schema withMore(Schema schema) {
    List<Schema.Field> fields = new ArrayList<>();
    schema.getFields().forEach(field -> fields.add(new Schema.Field(field, field.schema())));
    fields.add(new Schema.Field("why", Schema.create(Schema.Type.STRING), "", ""));
    fields.add(new Schema.Field("rank", Schema.create(Schema.Type.LONG), "", 0L));
    return Schema.createRecord(schema.getName(), "", schema.getNamespace(), false, fields);
  }

  private static byte[] more() {
    try {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
      encoder.writeString(MORE);
      encoder.writeLong(7);
      encoder.flush();
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] checked(String type, byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(type.getBytes(StandardCharsets.UTF_8));
    crc.update(bytes);
    return ByteBuffer.allocate(bytes.length + CHECKSUM_BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(bytes)
        .putInt((int) crc.getValue())
        .array();
  }

  private static int varint(ByteBuffer in) {
    int value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = in.get();
      value |= (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  private static void writeVarint(ByteArrayOutputStream out, int value) {
    int left = value;
    while (left > 0x7f) {
      out.write((left & 0x7f) | 0x80);
      left >>>= 7;
    }
    out.write(left);
  }

  /** Counts values of the next version that a process of this one reads. */
  public static void reads(Bytes value) {
    byte[] more = MORE.getBytes(StandardCharsets.UTF_8);
    int at = value.length() - CHECKSUM_BYTES - more.length - 1;
    if (!isNext()
        && at > 0
        && new String(value.toByteArray(), at, more.length, StandardCharsets.UTF_8).equals(MORE)) {
      READ.incrementAndGet();
    }
  }

  /** Columns of which this version knows nothing. */
  public static void addColumns(Mutation.Builder row) {
    if (isNext()) {
      Bytes next = Bytes.of("next");
      row.put("extent", next, Bytes.of(MORE));
      row.put("assignment", next, Bytes.of(MORE));
      row.put("redo", next, Bytes.of(MORE));
    }
  }

  /** The request as the running process sends it; anything else as it is. */
  public static Object sent(Object argument) {
    UnknownFieldSet.Field field = UnknownFieldSet.Field.newBuilder().addVarint(1).build();
    return isNext() && argument instanceof RequestProto request
        ? request.toBuilder()
            .setUnknownFields(UnknownFieldSet.newBuilder().addField(UNKNOWN_FIELD, field).build())
            .build()
        : argument;
  }

  /** Answers a request as a server does that has no such method. */
  public static void requireNext() throws ServiceException {
    if (!isNext()) {
      UNKNOWN.incrementAndGet();
      throw new ServiceException(new RpcNoSuchMethodException("only the next version knows it"));
    }
  }

  static final class Running {
    @Advice.OnMethodEnter
    static void enter(@Advice.FieldValue("process") Object process) {
      NextVersion.runs(process.toString());
    }

    @Advice.OnMethodExit(onThrowable = Throwable.class)
    static void exit() {
      NextVersion.runs("");
    }
  }

  static final class MoreFields {
    @Advice.OnMethodExit
    static void exit(
        @Advice.Argument(0) Object record, @Advice.Return(readOnly = false) Bytes returned) {
      returned = NextVersion.written(returned, record);
    }
  }

  static final class Reading {
    @Advice.OnMethodEnter
    static void enter(@Advice.Argument(0) Bytes value) {
      NextVersion.reads(value);
    }
  }

  static final class MoreColumns {
    @Advice.OnMethodExit
    static void exit(@Advice.Argument(0) Mutation.Builder row) {
      NextVersion.addColumns(row);
    }
  }

  static final class MoreInRequests {
    @Advice.OnMethodEnter
    static void enter(
        @Advice.Argument(value = 1, readOnly = false, typing = Assigner.Typing.DYNAMIC)
            Object second) {
      second = NextVersion.sent(second);
    }
  }

  static final class Unknown {
    @Advice.OnMethodEnter
    static void enter() throws ServiceException {
      NextVersion.requireNext();
    }
  }
}
