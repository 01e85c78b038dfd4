package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Limits;
import io.stele.record.FileRef;
import io.stele.sstable.NoBlockCache;
import io.stele.sstable.SSTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Divides the rows of a job's files into parts of similar size, by the block indexes of some of the
 * files. The same files give the same parts. Immutable.
 */
public final class FileDivision {
  /** Files that are opened, one after another: the work of seconds at most. */
  private static final int FILES_MAX = 64;

  /** Parts are made of pieces of the files: about so many for each part. */
  private static final int PIECES_OF_PART = 32;

  /** Each piece of a file costs a read of its index. */
  private static final int PIECES_OF_FILE_MAX = 1000;

  /**
   * Some of the bytes.
   *
   * @param row where they begin
   */
  private record Piece(Bytes row, double bytes) {}

  private final FileSystem fs;
  private final Path root;
  private final List<FileRef> files;

  /** A division of {@code files}, below {@code root}. */
  public FileDivision(FileSystem fs, Path root, List<FileRef> files) {
    this.fs = fs;
    this.root = root;
    this.files = List.copyOf(files);
  }

  /**
   * The first rows of all parts but the first, ascending.
   *
   * @param partsMax the most parts
   * @param bytesMin the least bytes of a part, on disk
   */
  public List<Bytes> starts(int partsMax, long bytesMin) throws IOException {
    long bytes = files.stream().mapToLong(FileRef::length).sum();
    int parts = (int) Math.min(partsMax, bytes / Math.max(1, bytesMin));
    if (parts < 2) {
      return List.of();
    }
    List<Piece> pieces = pieces(parts);
    double all = pieces.stream().mapToDouble(Piece::bytes).sum();
    List<Bytes> starts = new ArrayList<>();
    Bytes last = pieces.get(0).row();
    double before = 0;
    double part = all / parts;
    double cut = part;
    for (Piece piece : pieces) {
      if (before >= cut
          && starts.size() < parts - 1
          && piece.row().compareTo(last) > 0
          && piece.row().length() <= Limits.SPLIT_ROW_BYTES_MAX) {
        starts.add(piece.row());
        last = piece.row();
        cut = (Math.floor(before / part) + 1) * part; // A row may be larger than a part.
      }
      before += piece.bytes();
    }
    return starts;
  }

  /** The pieces of all files, in the order of their rows. */
  private List<Piece> pieces(int parts) throws IOException {
    int opened = Math.min(FILES_MAX, files.size());
    int ofFile = Math.min(PIECES_OF_FILE_MAX, parts * PIECES_OF_PART / opened + 1);
    List<Piece> pieces = new ArrayList<>();
    for (int i = 0; i < opened; i++) {
      FileRef file = files.get((int) ((long) i * files.size() / opened));
      Path path = new Path(root, file.path());
      try (SSTable table = SSTable.open(fs, path, file.length(), NoBlockCache.INSTANCE)) {
        List<Bytes> rows = new ArrayList<>();
        rows.add(file.bounds().start());
        table.rowsOfPieces(ofFile).stream().filter(file.bounds()::contains).forEach(rows::add);
        rows.forEach(row -> pieces.add(new Piece(row, (double) file.length() / rows.size())));
      }
    }
    pieces.sort(Comparator.comparing(Piece::row));
    return pieces;
  }
}
