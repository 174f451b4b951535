#include "records.hpp"

#include <utf8proc.h>

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <filesystem>
#include <optional>
#include <utility>

#include "backplane/plugin.hpp"

namespace backplane::summarization {
namespace {

namespace bi = boost::interprocess;

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

void CheckTexts(const Record& record, const Columns& columns) {
  if (IsBlank(record.source)) throw BadRow(record.place, "'" + columns.source + "' is empty");
  for (const std::string& target : record.targets)
    if (IsBlank(target))
      throw BadRow(record.place,
                   columns.targets.size() == 1 ? "'" + columns.targets[0] + "' is empty" : "one of the targets is empty");
}

// Delays records by one, because only the next row shows that a row is complete. Bad rows between a record and a torn row prove
// nothing: they may be parts of the torn one.
class Sieve {
 public:
  Sieve(const std::string& path, const ReadOptions& options, const std::function<void(const Record&)>& accept)
      : path_(path), options_(options), accept_(accept) {}

  void Good(Record&& record) {
    if (after_torn_) {
      after_torn_ = false;
      return LeaveOut(record.place, "it follows a row with too few fields and may be a part of it");
    }
    HandOn();
    held_ = std::move(record);
  }
  void Bad(const BadRow& row) {
    if (!options_.skip_bad_rows)
      throw bp::ConfigError(path_ + ": row " + Text(row.place) + ": " + row.what() +
                            "; to leave out such rows, set `bad_rows: skip`");
    if (row.torn && held_) {
      LeaveOut(held_->place, "the next row has too few fields and may be a part of it");
      held_.reset();
    }
    LeaveOut(row.place, row.what());
    after_torn_ = after_torn_ || row.torn;
  }
  void HandOn() {
    if (!held_) return;
    const Record record = *std::exchange(held_, std::nullopt);
    if (Full()) return;
    try {
      accept_(record);
      ++report_.items;
    } catch (const BadRow& row) {
      Bad(row);
    }
  }
  bool Full() const { return options_.max_items > 0 && report_.items >= options_.max_items; }
  const ReadReport& report() const { return report_; }

 private:
  static std::string Text(const Place& place) {
    return std::to_string(place.row) + " (line " + std::to_string(place.line) +
           (place.id.empty() ? "" : ", '" + place.id + "'") + ")";
  }
  void LeaveOut(const Place& place, const std::string& reason) {
    ++report_.left_out;
    if (first_row_left_out_ > 0 && first_row_left_out_ < place.row) return;
    first_row_left_out_ = place.row;
    report_.first_left_out = "row " + Text(place) + ": " + reason;
  }

  const std::string& path_;
  const ReadOptions& options_;
  const std::function<void(const Record&)>& accept_;
  std::optional<Record> held_;
  bool after_torn_ = false;
  uint64_t first_row_left_out_ = 0;  // 0: none; a held record is left out after the rows that follow it
  ReadReport report_;
};

std::string_view WithoutEnds(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

size_t FindBadUtf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t code_point;
    const utf8proc_ssize_t length =
        bytes[at] < 0x80 ? 1 : utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code_point);
    if (length <= 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string Excerpt(std::string_view text) {
  text = text.substr(0, 30);
  return "'" + std::string(text.substr(0, FindBadUtf8(text))) + "'";
}

ReadReport ReadRecords(const std::string& path, const ReadOptions& options, const std::function<void(const Record&)>& accept) {
  Sieve sieve(path, options, accept);
  try {
    // An empty file cannot be mapped.
    if (std::filesystem::file_size(path) == 0) throw BadFile("is empty");
    const bi::file_mapping file(path.c_str(), bi::read_only);
    const bi::mapped_region region(file, bi::read_only);
    const std::string_view text = WithoutEnds({static_cast<const char*>(region.get_address()), region.get_size()});
    const auto reader = options.format == Format::kJsonLines ? ReadJsonLines(text, options.columns)
                                                             : ReadTable(text, options.format, options.columns);
    for (bool more = true; more && !sieve.Full();) {
      try {
        Record record;
        more = reader->Next(&record);
        if (!more) break;
        CheckTexts(record, options.columns);
        sieve.Good(std::move(record));
      } catch (const BadRow& row) {
        sieve.Bad(row);
      }
    }
    sieve.HandOn();
  } catch (const BadFile& e) {
    throw bp::ConfigError(path + ": " + e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    throw bp::ConfigError(path + ": cannot read: " + e.code().message());
  } catch (const bi::interprocess_exception& e) {
    throw bp::ConfigError(path + ": cannot read: " + e.what());
  }
  return sieve.report();
}

}  // namespace backplane::summarization
