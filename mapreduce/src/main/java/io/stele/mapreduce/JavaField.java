package io.stele.mapreduce;

import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Optional;
import org.apache.avro.reflect.AvroName;
import org.apache.avro.reflect.ReflectData;

/**
 * A field as its class declares it. {@link ReflectData} sets such fields without a check of their
 * types, so whoever uses it has to check. Immutable.
 */
final class JavaField {
  private final Field field;

  private JavaField(Field field) {
    this.field = field;
  }

  /** The field that a class, or one that it extends, has for a field {@code name} of its schema. */
  static Optional<JavaField> of(Class<?> record, String name) {
    for (Class<?> in = record; in != null; in = in.getSuperclass()) {
      for (Field field : in.getDeclaredFields()) {
        AvroName other = field.getAnnotation(AvroName.class);
        boolean stored = (field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0;
        if (stored && name.equals(other == null ? field.getName() : other.value())) {
          return Optional.of(new JavaField(field));
        }
      }
    }
    return Optional.empty();
  }

  /** Whether the field can be set to a {@code value}. */
  boolean holds(Class<?> value) {
    return takes(field.getType(), value);
  }

  /** Whether the field, which is a map, can have such keys and values. */
  boolean holdsInMap(Class<?> key, Class<?> value) {
    return !(field.getGenericType() instanceof ParameterizedType map)
        || (takes(map.getActualTypeArguments()[0], key)
            && takes(map.getActualTypeArguments()[1], value));
  }

  private static boolean takes(Type type, Class<?> value) {
    return !(type instanceof Class<?> plain)
        || MethodType.methodType(plain).wrap().returnType().isAssignableFrom(value);
  }

  @Override
  public String toString() {
    return field.getGenericType().getTypeName();
  }
}
