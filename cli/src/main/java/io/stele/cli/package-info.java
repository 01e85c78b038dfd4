/**
 * The {@code stele} command: thin over {@link io.stele.client}, {@link io.stele.yarn} and the dumps
 * of files. Internal: what it prints is for people, its exit codes ({@link io.stele.cli.ExitCode})
 * for scripts.
 */
package io.stele.cli;
