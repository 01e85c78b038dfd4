package io.stele.examples.earth;

import io.stele.examples.NumbersInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;

/**
 * The table of raw images: a row for each {@link Segment} of one zoom level, a column for each
 * scene, which is what a satellite took in one go. A scene covers few segments, so each row has
 * only a few of the table's many columns.
 *
 * <pre>
 * row    raw:scene00017   source:scene00017   raw:scene00141   source:scene00141
 * 03121  a PNG            31 % clouds         a PNG            4 % clouds
 * </pre>
 *
 * <p>The earth and the clouds are generated: {@link #generate}.
 */
final class Imagery {
  static final String RAW = "raw";
  static final String SOURCE = "source";

  /** The side of a segment's picture, in pixels. */
  static final int SIDE = 32;

  /** Pixels that are as bright show clouds, not the earth. */
  static final int CLOUD = 250;

  /** The zoom level of the segments is at least that. */
  static final int LEVEL_MIN = 2;

  private static final int SCENE_LEVELS = 2; // A scene is 4 segments wide and 4 high.
  private static final int SCENE_SIDE = SIDE << SCENE_LEVELS;
  private static final int REDUCERS_MAX = 50;
  private static final String LEVEL = "examples.earth.level";

  private Imagery() {}

  /** The table's schema: the images apart, and not compressed, since they are already. */
  static TableSchema schema(String table) {
    return TableSchema.of(
        table,
        List.of(ColumnFamily.of(RAW).in("images"), ColumnFamily.of(SOURCE)),
        LocalityGroup.of("images").withCodec(Codec.NONE));
  }

  /**
   * The job that takes pictures of the whole earth.
   *
   * @param level the zoom level of the segments
   * @param passes how often all of the earth is taken
   */
  static Job generate(Configuration conf, String table, int level, long passes, long seed)
      throws IOException {
    Job job = SteleJob.create(conf, "earth: take pictures", Imagery.class);
    long scenes = 1L << (2 * (level - SCENE_LEVELS));
    NumbersInputFormat.set(job, passes * scenes, seed);
    job.getConfiguration().setInt(LEVEL, level);
    job.setMapperClass(SceneMapper.class);
    SteleJob.bulkInto(job, table, REDUCERS_MAX, RAW, SOURCE);
    return job;
  }

  /** Takes the picture of a scene, and cuts it into segments. */
  static final class SceneMapper extends Mapper<LongWritable, NullWritable, Bytes, Mutation> {
    @Override
    protected void map(LongWritable number, NullWritable nothing, Context context)
        throws IOException, InterruptedException {
      Configuration conf = context.getConfiguration();
      int level = conf.getInt(LEVEL, LEVEL_MIN);
      int wide = 1 << (level - SCENE_LEVELS);
      int left = (int) (number.get() % wide) << SCENE_LEVELS;
      int top = (int) (number.get() / wide % wide) << SCENE_LEVELS;
      Picture scene = new Picture(SCENE_SIDE);
      double pixels = SIDE << level;
      SplittableRandom random = NumbersInputFormat.random(conf, number.get());
      int light = random.nextInt(20); // More of it on some days.
      for (int y = 0; y < SCENE_SIDE; y++) {
        for (int x = 0; x < SCENE_SIDE; x++) {
          int shade = shade((left * SIDE + x) / pixels, (top * SIDE + y) / pixels) + light;
          scene.set(x, y, Math.min(CLOUD - 1, shade));
        }
      }
      paintClouds(scene, random);
      Bytes name = Bytes.of(String.format("scene%05d", number.get()));
      for (int i = 0; i < 1 << (2 * SCENE_LEVELS); i++) {
        int x = i % (1 << SCENE_LEVELS);
        int y = i >> SCENE_LEVELS;
        Picture picture = scene.part(x * SIDE, y * SIDE, SIDE);
        Bytes row = new Segment(level, left + x, top + y).key();
        context.write(
            row,
            Mutation.of(row)
                .put(RAW, name, picture.png())
                .put(SOURCE, name, Bytes.of(clouds(picture) + " % clouds")));
      }
    }
  }

  /** How bright the earth is at a place of the map: water is dark, mountains are bright. */
  private static int shade(double x, double y) {
    double height = 0;
    double rough = 1;
    for (int i = 1; i <= 64; i *= 2) {
      double across = Math.sin(2 * Math.PI * (i * x + 0.37 * i + 0.2 * Math.sin(9 * i * y)));
      double down = Math.sin(Math.PI * (2 * i * y + 0.21 * i + 0.3 * Math.cos(7 * i * x)));
      height += rough * across * down;
      rough *= 0.6;
    }
    return (int) (height < 0 ? 30 + 10 * height : 70 + 120 * height);
  }

  private static void paintClouds(Picture scene, SplittableRandom random) {
    int clouds = random.nextInt(6);
    for (int i = 0; i < clouds; i++) {
      int left = random.nextInt(SCENE_SIDE);
      int top = random.nextInt(SCENE_SIDE);
      int radius = SIDE / 4 + random.nextInt(SIDE);
      for (int y = Math.max(0, top - radius); y < Math.min(SCENE_SIDE, top + radius); y++) {
        for (int x = Math.max(0, left - radius); x < Math.min(SCENE_SIDE, left + radius); x++) {
          if (Math.hypot(x - left, y - top) < radius) {
            scene.set(x, y, CLOUD);
          }
        }
      }
    }
  }

  private static int clouds(Picture picture) {
    int clouds = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
      clouds += picture.at(i % SIDE, i / SIDE) >= CLOUD ? 1 : 0;
    }
    return 100 * clouds / (SIDE * SIDE);
  }
}
