/** {@code stele demo}: the whole of Stele at work on one machine. Internal. */
package io.stele.cli.demo;
