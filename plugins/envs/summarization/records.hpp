// Pairs of texts from csv, tsv and JSON-lines files. An incomplete row is never used in part: it is an error with number and
// line, or left out and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane::summarization {

// The start of a row: its number (without the header) and its line in the file, both from 1, and its id.
struct Place {
  uint64_t row = 0, line = 0;
  std::string id;
};

// The fields of a pair. Several targets are several references for one source. `id` names rows in messages; may be empty.
struct Columns {
  std::string source;
  std::vector<std::string> targets;
  std::string id;
};

struct Record {
  Place place;
  std::string source;
  std::vector<std::string> targets;  // at least one
};

// An unusable row. `torn`: it has too few fields, because a line break may have split it. The adjacent rows may then be parts
// of it, even if they look complete.
struct BadRow : std::runtime_error {
  BadRow(Place where, const std::string& what, bool is_torn = false)
      : std::runtime_error(what), place(std::move(where)), torn(is_torn) {}
  Place place;
  bool torn;
};

// A file that cannot be read further, for a reason outside any single row.
struct BadFile : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Reads the records of a text that outlives it.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // False at the end. Throws BadRow, after which the next call reads the next row, and BadFile.
  virtual bool Next(Record* out) = 0;
};

enum class Format { kCsv, kTsv, kJsonLines };

// `text` without byte order mark and without line ends after the last row. Throws BadFile for a header that does not fit.
// kCsv: RFC 4180. kTsv: a header, no quoting.
std::unique_ptr<RecordReader> ReadTable(std::string_view text, Format format, const Columns& columns);
// One object per line; a target may be a list of texts. Empty lines are ignored.
std::unique_ptr<RecordReader> ReadJsonLines(std::string_view text, const Columns& columns);

// First byte of `text` that is no UTF-8, or npos.
size_t FindBadUtf8(std::string_view text);
// The start of `text` for a message, up to 30 bytes of UTF-8 in quotes.
std::string Excerpt(std::string_view text);

struct ReadOptions {
  Format format = Format::kCsv;
  Columns columns;
  bool skip_bad_rows = false;
  uint64_t max_items = 0;  // 0: all
  uint64_t workers = 0;    // threads that encode the texts ahead; 0: the caller encodes them
};
struct ReadReport {
  uint64_t items = 0, left_out = 0;
  std::string first_left_out;  // place and reason
};

// Passes the file's records to `accept`, in order; accept may throw BadRow. Texts are UTF-8 and not blank. The rows adjacent to
// a torn one are left out too, even if bad rows are in between. Throws bp::Error (BP_E_CONFIG) with file, row and line.
ReadReport ReadRecords(const std::string& path, const ReadOptions& options, const std::function<void(const Record&)>& accept);

}  // namespace backplane::summarization
