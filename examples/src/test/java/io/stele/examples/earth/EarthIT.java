package io.stele.examples.earth;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.examples.Printed;
import io.stele.mapreduce.HdfsCluster;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.imageio.ImageIO;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pictures are taken and made into tiles, over HDFS and ZooKeeper in this JVM. */
class EarthIT {
  private static final int LEVEL = 3;
  private static final int WIDE = 32 << LEVEL;

  @TempDir private Path scratch;

  @Test
  void tilesAreWhatThePicturesShow() throws Exception {
    try (HdfsCluster hdfs = new HdfsCluster(scratch.toFile())) {
      Stele stele = hdfs.stele().client();
      Configuration conf = new Configuration(hdfs.conf());

      String printed = Printed.by(new Earth(), conf, "run", "" + LEVEL, "4", "9");
      assertThat(printed).contains("4 pictures of each of 64 segments", "tile 1\n");
      List<Row> imagery = rows(stele, "imagery");
      assertThat(imagery).hasSize(64).allSatisfy(row -> assertThat(row.family("raw")).hasSize(4));
      Set<String> before = requireTiles(stele, hdfs, conf, imagery);

      // More pictures, of one segment, and new tiles: the old files are gone.
      BufferedImage night = new BufferedImage(32, 32, BufferedImage.TYPE_BYTE_GRAY);
      ByteArrayOutputStream png = new ByteArrayOutputStream();
      ImageIO.write(night, "png", png);
      for (int i = 0; i < 5; i++) {
        Mutation mutation = Mutation.of("120").put("raw", "night" + i, png.toByteArray());
        stele.table("imagery").mutate(mutation);
      }
      Printed.by(new Earth(), conf, "process");
      Set<String> after = requireTiles(stele, hdfs, conf, rows(stele, "imagery"));
      assertThat(after).doesNotContainAnyElementsOf(before);
      for (String file : before) {
        assertThat(hdfs.fs().exists(new org.apache.hadoop.fs.Path(file))).as(file).isFalse();
      }
      // 120 is the third eighth from the north, and the fifth from the west.
      assertThat(Printed.by(new Earth(), conf, "show", "44", "10", "" + LEVEL, "/night.png"))
          .isEqualTo("tile 120\n" + (" ".repeat(64) + "\n").repeat(32));
      try (var in = hdfs.fs().open(new org.apache.hadoop.fs.Path("/night.png"))) {
        assertThat(in.readAllBytes()).startsWith(0x89, 'P', 'N', 'G');
      }
    }
  }

  private static List<Row> rows(Stele stele, String table) throws IOException {
    try (Rows rows = stele.table(table).readRows(RowQuery.ALL)) {
      return rows.stream().toList();
    }
  }

  /** The place of a segment on the map of its level, in tiles. */
  private static int[] place(String key) {
    int x = 0;
    int y = 0;
    int size = 1 << key.length();
    for (char digit : key.toCharArray()) {
      size /= 2;
      x += digit == '1' || digit == '3' ? size : 0;
      y += digit == '2' || digit == '3' ? size : 0;
    }
    return new int[] {x, y};
  }

  /** Compares all tiles with a map painted in one piece, and gives the files that they are in. */
  private static Set<String> requireTiles(
      Stele stele, HdfsCluster hdfs, Configuration conf, List<Row> imagery) throws IOException {
    int[][] map = map(imagery);
    Set<String> files = new TreeSet<>();
    List<Row> index = rows(stele, "tiles");
    assertThat(index).hasSize(4 + 16 + 64);
    for (Row row : index) {
      String key = row.key().toUtf8();
      String file = row.value("at", "file").orElseThrow().toUtf8();
      files.add(file);
      byte[] png = new byte[(int) row.value("at", "length").orElseThrow().toLong()];
      try (var in = hdfs.fs().open(new org.apache.hadoop.fs.Path(file))) {
        in.readFully(row.value("at", "offset").orElseThrow().toLong(), png);
      }
      BufferedImage tile = ImageIO.read(new ByteArrayInputStream(png));
      Picture found = Tiles.lookUp(stele.table("tiles"), row.key(), conf).orElseThrow();
      int scale = 1 << (LEVEL - key.length());
      int[] expected = new int[32 * 32];
      int[] lookedUp = new int[32 * 32];
      for (int i = 0; i < 32 * 32; i++) {
        int x = (place(key)[0] * 32 + i % 32) * scale;
        int y = (place(key)[1] * 32 + i / 32) * scale;
        expected[i] = mean(map, x, y, scale);
        lookedUp[i] = found.at(i % 32, i / 32);
      }
      int[] inFile = tile.getRaster().getPixels(0, 0, 32, 32, (int[]) null);
      assertThat(inFile).as("tile %s", key).isEqualTo(expected);
      assertThat(lookedUp).as("tile %s", key).isEqualTo(expected);
    }
    assertThat(Tiles.lookUp(stele.table("tiles"), Bytes.of("0000"), conf)).isEmpty();
    return files;
  }

  private static int mean(int[][] map, int left, int top, int side) {
    int sum = 0;
    for (int y = top; y < top + side; y++) {
      for (int x = left; x < left + side; x++) {
        sum += map[y][x];
      }
    }
    return sum / (side * side);
  }

  /** The pixels of all segments: the middle one of those that are not of clouds. */
  private static int[][] map(List<Row> imagery) throws IOException {
    int[][] map = new int[WIDE][WIDE];
    for (Row row : imagery) {
      List<BufferedImage> images = new ArrayList<>();
      for (Cell cell : row.family("raw")) {
        images.add(ImageIO.read(new ByteArrayInputStream(cell.value().toByteArray())));
      }
      int[] place = place(row.key().toUtf8());
      for (int y = 0; y < 32; y++) {
        for (int x = 0; x < 32; x++) {
          List<Integer> shades = new ArrayList<>();
          for (BufferedImage image : images) {
            int shade = image.getRaster().getSample(x, y, 0);
            if (shade < 250) {
              shades.add(shade);
            }
          }
          shades.sort(null);
          map[place[1] * 32 + y][place[0] * 32 + x] =
              shades.isEmpty() ? 250 : shades.get((shades.size() - 1) / 2);
        }
      }
    }
    return map;
  }
}
