package io.stele.examples.earth;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.examples.Example;
import io.stele.examples.ReportTable;
import io.stele.model.Bytes;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;

/** Generates pictures of the earth, makes map tiles of them, and looks up tiles. */
public final class Earth extends Example {
  private static final String IMAGERY = "imagery";
  private static final String TILES = "tiles";
  private static final Path DIRECTORY = new Path("earth-tiles");
  private static final long LEVEL = 5;
  private static final long LEVEL_MAX = 15;
  private static final long PASSES = 5;

  @Override
  protected String usage() {
    return """
        earth run [LEVEL] [PASSES] [SEED]       all of these, one after the other
        earth generate [LEVEL] [PASSES] [SEED]  takes pictures of the earth, into table imagery
        earth process                           makes tiles in earth-tiles/, their index in table tiles
        earth list                              how many tiles there are
        earth show LAT LON ZOOM [FILE]          prints the tile with a point, and writes it to a PNG file

        There are 4^LEVEL segments, 5 unless given, each in PASSES pictures, 5 unless given. The
        same SEED, 1 unless given, makes the same clouds.
        """;
  }

  @Override
  protected Map<String, Command> commands() {
    return Map.of(
        "run", this::runAll,
        "generate", this::generate,
        "process", none -> this::process,
        "list", none -> stele -> System.out.print(list(stele)),
        "show", this::show);
  }

  private Work runAll(List<String> arguments) {
    Work generate = generate(arguments);
    Work show = show(List.of("20", "30", "1"));
    return stele -> {
      generate.on(stele);
      process(stele);
      System.out.println(list(stele));
      show.on(stele);
    };
  }

  private Work generate(List<String> arguments) {
    long level = number(arguments, 0, LEVEL);
    if (level < Imagery.LEVEL_MIN || level > LEVEL_MAX) {
      throw new WrongUsage("LEVEL is " + Imagery.LEVEL_MIN + " to " + LEVEL_MAX);
    }
    long passes = number(arguments, 1, PASSES);
    long seed = number(arguments, 2, 1);
    return stele -> {
      createIfMissing(stele, Imagery.schema(IMAGERY));
      complete(Imagery.generate(getConf(), IMAGERY, (int) level, passes, seed));
      System.out.printf("%,d pictures of each of %,d segments taken%n", passes, 1L << (2 * level));
    };
  }

  private void process(Stele stele) throws Exception {
    createIfMissing(stele, TilePlace.schema(TILES));
    Job job = complete(Tiles.job(getConf(), IMAGERY, TILES, DIRECTORY));
    Tiles.deleteOlder(job);
    System.out.printf("Tiles of table %s made, indexed in table %s%n%n", IMAGERY, TILES);
  }

  private static ReportTable list(Stele stele) throws IOException {
    Map<Integer, List<TilePlace>> places;
    try (Rows rows = stele.table(TILES).readRows(RowQuery.ALL)) {
      places =
          rows.stream()
              .map(TilePlace.MAPPING::record)
              .collect(
                  Collectors.groupingBy(
                      place -> place.segment.length(), TreeMap::new, Collectors.toList()));
    }
    ReportTable table = new ReportTable("zoom", "tiles", "bytes", "files");
    places.forEach(
        (zoom, tiles) ->
            table.row(
                zoom,
                tiles.size(),
                tiles.stream().mapToLong(tile -> tile.length).sum(),
                tiles.stream().map(tile -> tile.file).distinct().count()));
    return table;
  }

  private Work show(List<String> arguments) {
    if (arguments.size() < 3) {
      throw new WrongUsage("show needs a latitude, a longitude and a zoom level");
    }
    Bytes segment =
        Segment.of(degrees(arguments.get(0)), degrees(arguments.get(1)), zoom(arguments)).key();
    return stele -> {
      Picture tile =
          Tiles.lookUp(stele.table(TILES), segment, getConf())
              .orElseThrow(
                  () -> SteleException.notFound("table " + TILES + " has no tile " + segment));
      System.out.print("tile " + segment + "\n" + tile);
      if (arguments.size() > 3) {
        Path file = new Path(arguments.get(3));
        try (OutputStream out = file.getFileSystem(getConf()).create(file, true)) {
          tile.png().writeTo(out);
        }
      }
    };
  }

  private static int zoom(List<String> arguments) {
    long zoom = number(arguments, 2, 1);
    if (zoom < 1 || zoom > LEVEL_MAX) {
      throw new WrongUsage("ZOOM is 1 to " + LEVEL_MAX);
    }
    return (int) zoom;
  }

  private static double degrees(String argument) {
    try {
      return Double.parseDouble(argument);
    } catch (NumberFormatException e) {
      throw new WrongUsage(argument + " is not a number of degrees");
    }
  }

  /** Runs the program. */
  public static void main(String[] args) throws Exception {
    main(new Earth(), args);
  }
}
