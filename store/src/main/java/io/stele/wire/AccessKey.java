package io.stele.wire;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The key of {@code hadoop-policy.xml} that says who may call a protocol, where {@code
 * hadoop.security.authorization} is on. Not set, it is what {@code
 * security.service.authorization.default.acl} says: everybody, unless set otherwise.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface AccessKey {
  /** Such as {@code security.stele.master.protocol.acl}. */
  String value();
}
