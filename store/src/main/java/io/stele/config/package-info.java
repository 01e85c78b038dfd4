/**
 * {@code stele-site.xml}, parsed once into typed, validated values. Internal.
 *
 * <p>Only this package knows the names of the keys: {@link io.stele.config.Keys} lists them all.
 */
package io.stele.config;
