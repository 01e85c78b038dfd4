package io.stele.examples.earth;

import io.stele.client.Table;
import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.outputformat.BulkOutputFormat;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Makes the tiles of the map, in files, and an index of them. A tile has the pixels of a segment
 * without clouds; those of up to {@link #COARSER_MAX} coarser zoom levels show four tiles of the
 * next level each.
 *
 * <p>A run writes to its own directory, and its commit replaces the index at one moment. Only then
 * are the files of the run before deleted: a reader finds the old tile or the new one. Failed
 * attempts of tasks leave files that no index names; they are deleted with the other files of their
 * run. Runs must not overlap: each deletes the files of all others.
 */
final class Tiles {
  /** A tile of so many levels above a segment's shows one pixel of it. */
  static final int COARSER_MAX = Integer.numberOfTrailingZeros(Imagery.SIDE);

  private static final int REDUCERS_MAX = 50;
  private static final int LOOKUPS_MAX = 10;
  private static final String DIRECTORY = "examples.earth.directory";

  /** Among mutations on their way to a reducer: a part of the tile, by its key within the tile. */
  private static final String PART = "part";

  private Tiles() {}

  /**
   * The job.
   *
   * @param directory of the files of all runs
   */
  static Job job(Configuration conf, String imagery, String index, Path directory)
      throws IOException {
    Job job = SteleJob.create(conf, "earth: make tiles", Tiles.class);
    Path own = new Path(directory, UUID.randomUUID().toString());
    job.getConfiguration().set(DIRECTORY, own.getFileSystem(conf).makeQualified(own).toString());
    TableInputFormat.addTable(job, imagery, RowQuery.ALL.family(Imagery.RAW).versions(1));
    job.setMapperClass(CleaningMapper.class);
    job.setReducerClass(TileReducer.class);
    SteleJob.bulkInto(job, index, REDUCERS_MAX, TilePlace.AT);
    BulkOutputFormat.replaceTable(job, index);
    return job;
  }

  /** Deletes the files of all runs but that of a committed job; none other may be in progress. */
  static void deleteOlder(Job committed) throws IOException {
    Path own = new Path(committed.getConfiguration().get(DIRECTORY));
    FileSystem fs = own.getFileSystem(committed.getConfiguration());
    for (FileStatus run : fs.listStatus(own.getParent())) {
      if (!run.getPath().getName().equals(own.getName())) {
        fs.delete(run.getPath(), true);
      }
    }
  }

  /** The tile of a segment, or nothing if there is none. */
  static Optional<Picture> lookUp(Table index, Bytes segment, Configuration conf)
      throws IOException {
    for (int lookups = 1; true; lookups++) {
      Optional<Row> row = index.readRow(segment, TilePlace.MAPPING.query());
      if (row.isEmpty()) {
        return Optional.empty();
      }
      try {
        return Optional.of(Picture.parse(read(TilePlace.MAPPING.record(row.get()), conf)));
      } catch (FileNotFoundException e) {
        if (lookups == LOOKUPS_MAX) { // A new run has replaced the index meanwhile, each time?
          throw e;
        }
      }
    }
  }

  private static Bytes read(TilePlace place, Configuration conf) throws IOException {
    Path file = new Path(place.file);
    byte[] tile = new byte[place.length];
    try (FSDataInputStream in = file.getFileSystem(conf).open(file)) {
      in.readFully(place.offset, tile);
    }
    return Bytes.wrap(tile);
  }

  /** Gives the segment's clean picture to its tile and, smaller, to those of coarser levels. */
  static final class CleaningMapper extends Mapper<Bytes, Row, Bytes, Mutation> {
    @Override
    protected void map(Bytes segment, Row images, Context context)
        throws IOException, InterruptedException {
      List<Picture> raw = new ArrayList<>();
      for (Cell image : images.cells()) {
        raw.add(Picture.parse(image.value()));
      }
      Picture clean = clean(raw);
      for (int up = 0; up <= COARSER_MAX && up < segment.length(); up++) {
        Bytes tile = segment.slice(0, segment.length() - up);
        Bytes place = segment.slice(segment.length() - up, segment.length());
        context.write(tile, Mutation.of(tile).put(PART, place, clean.smaller(1 << up).png()));
      }
    }
  }

  /** Each pixel is the median of the pixels without a cloud; a cloud if all show one. */
  private static Picture clean(List<Picture> raw) {
    Picture clean = new Picture(Imagery.SIDE);
    for (int i = 0; i < Imagery.SIDE * Imagery.SIDE; i++) {
      int x = i % Imagery.SIDE;
      int y = i / Imagery.SIDE;
      int[] shades =
          raw.stream()
              .mapToInt(picture -> picture.at(x, y))
              .filter(shade -> shade < Imagery.CLOUD)
              .sorted()
              .toArray();
      clean.set(x, y, shades.length == 0 ? Imagery.CLOUD : shades[(shades.length - 1) / 2]);
    }
    return clean;
  }

  /** Puts the parts of a tile together, appends it to the attempt's file, and says where it is. */
  static final class TileReducer extends Reducer<Bytes, Mutation, NullWritable, Mutation> {
    private Path file = new Path("/");
    private Optional<FSDataOutputStream> out = Optional.empty();

    @Override
    protected void setup(Context context) throws IOException {
      Configuration conf = context.getConfiguration();
      file = new Path(conf.get(DIRECTORY), context.getTaskAttemptID().toString());
      out = Optional.of(file.getFileSystem(conf).create(file, false));
    }

    @Override
    protected void reduce(Bytes segment, Iterable<Mutation> parts, Context context)
        throws IOException, InterruptedException {
      Picture tile = new Picture(Imagery.SIDE);
      for (Mutation part : parts) {
        for (Edit edit : part.edits()) {
          Edit.Put put = (Edit.Put) edit;
          Segment within = Segment.of(put.qualifier());
          Picture picture = Picture.parse(put.value());
          tile.paint(picture, within.x() * picture.side(), within.y() * picture.side());
        }
      }
      Bytes png = tile.png();
      TilePlace place = new TilePlace();
      place.segment = segment.toUtf8();
      place.file = file.toString();
      place.offset = out.orElseThrow().getPos();
      place.length = png.length();
      png.writeTo(out.orElseThrow());
      context.write(NullWritable.get(), TilePlace.MAPPING.newRow(place));
    }

    /** What the index names is on HDFS before the index can be committed. */
    @Override
    protected void cleanup(Context context) throws IOException {
      out.orElseThrow().close();
    }
  }
}
