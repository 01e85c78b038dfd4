package io.stele.examples.earth;

import io.stele.model.Bytes;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import javax.imageio.ImageIO;
import javax.imageio.stream.MemoryCacheImageInputStream;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** A square of grey pixels, 0 black to 255 white. Mutable, not safe for use by several threads. */
final class Picture {
  private static final String SHADES = " .:-=+*#%@";
  private static final int WHITE = 255;

  private final int side;
  private final int[] pixels;

  /** A black picture. */
  Picture(int side) {
    this.side = side;
    this.pixels = new int[side * side];
  }

  int side() {
    return side;
  }

  int at(int x, int y) {
    return pixels[y * side + x];
  }

  void set(int x, int y, int shade) {
    pixels[y * side + x] = Math.max(0, Math.min(WHITE, shade));
  }

  /** The square of {@code length} pixels at {@code (left, top)}. */
  Picture part(int left, int top, int length) {
    Picture part = new Picture(length);
    part.paint(this, -left, -top);
    return part;
  }

  /** Paints what fits of {@code other} on this, its corner at {@code (left, top)}. */
  void paint(Picture other, int left, int top) {
    for (int y = Math.max(0, -top); y < other.side && y + top < side; y++) {
      for (int x = Math.max(0, -left); x < other.side && x + left < side; x++) {
        set(x + left, y + top, other.at(x, y));
      }
    }
  }

  /** The picture with the mean of each square of {@code factor * factor} pixels as one pixel. */
  Picture smaller(int factor) {
    Picture smaller = new Picture(side / factor);
    for (int y = 0; y < smaller.side; y++) {
      for (int x = 0; x < smaller.side; x++) {
        int sum = 0;
        for (int i = 0; i < factor * factor; i++) {
          sum += at(x * factor + i % factor, y * factor + i / factor);
        }
        smaller.set(x, y, sum / (factor * factor));
      }
    }
    return smaller;
  }

  /** The picture in the format PNG. */
  Bytes png() throws IOException {
    BufferedImage image = new BufferedImage(side, side, BufferedImage.TYPE_BYTE_GRAY);
    image.getRaster().setPixels(0, 0, side, side, pixels);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
      ImageIO.write(image, "png", out);
    }
    return Bytes.wrap(bytes.toByteArray());
  }

  /** Reads what {@link #png} wrote. */
  static Picture parse(Bytes png) throws IOException {
    ByteArrayInputStream bytes = new ByteArrayInputStream(png.toByteArray());
    BufferedImage image = ImageIO.read(new MemoryCacheImageInputStream(bytes));
    if (image == null) {
      throw new IOException("these " + png.length() + " bytes are no picture in the format PNG");
    }
    Picture picture = new Picture(image.getWidth());
    image.getRaster().getPixels(0, 0, picture.side, picture.side, picture.pixels);
    return picture;
  }

  /** Two characters for each pixel, the darkest blank. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int y = 0; y < side; y++) {
      for (int x = 0; x < side; x++) {
        char shade = SHADES.charAt(at(x, y) * SHADES.length() / (WHITE + 1));
        text.append(shade).append(shade);
      }
      text.append('\n');
    }
    return text.toString();
  }
}
