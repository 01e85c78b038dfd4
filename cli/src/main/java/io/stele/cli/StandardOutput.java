package io.stele.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Where a command prints: the first error of a write ends the command. The errors are unchecked,
 * for a {@link PrintWriter} would swallow an {@link IOException}.
 */
final class StandardOutput extends OutputStream {
  /** The output was closed, as after {@code | head -1}. */
  static final class ClosedException extends IOException {
    private static final long serialVersionUID = 1L;

    ClosedException(IOException cause) {
      super("the output was closed", cause);
    }
  }

  private final OutputStream out;

  StandardOutput(OutputStream out) {
    this.out = out;
  }

  /** The standard output of this process, bypassing {@code System.out}, which swallows errors. */
  static StandardOutput ofProcess() {
    return new StandardOutput(new FileOutputStream(FileDescriptor.out));
  }

  /** Prints to it, line by line. */
  PrintWriter printer() {
    return new PrintWriter(this, true, StandardCharsets.UTF_8);
  }

  @Override
  public void write(int one) {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) {
    try {
      out.write(bytes, from, length);
    } catch (IOException e) {
      throw failure(e);
    }
  }

  @Override
  public void flush() {
    try {
      out.flush();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private static UncheckedIOException failure(IOException cause) {
    String why = String.valueOf(cause.getMessage());
    return new UncheckedIOException(
        why.contains("Broken pipe")
            ? new ClosedException(cause)
            : new IOException("cannot write standard output: " + why, cause));
  }
}
