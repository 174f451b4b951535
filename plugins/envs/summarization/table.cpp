// csv and tsv. A custom parser, because errors need row number and line, and a broken quote must not be guessed:
// docs/decisions/0013-reading-tables.md.
#include <algorithm>

#include "records.hpp"

namespace backplane::summarization {
namespace {

// Returns the fields of one row after another.
class Rows {
 public:
  Rows(std::string_view text, Format format) : text_(text), csv_(format == Format::kCsv) {}

  // False at the end. `problem` is the reason why the row is unusable although its end is known, or empty. Throws BadFile.
  bool Next(std::vector<std::string>* fields, std::string* problem) {
    fields->clear(), problem->clear();
    if (at_ > text_.size() || (at_ == 0 && text_.empty())) return false;
    const size_t begin = at_;
    line_ = next_line_;
    csv_ ? Csv(fields, problem) : Tsv(fields);
    next_line_ += std::count(text_.begin() + begin, text_.begin() + std::min(at_, text_.size()), '\n');
    return true;
  }
  uint64_t line() const { return line_; }  // of the row's start

 private:
  // The end of the line that contains `from`, without its line break.
  size_t LineEnd(size_t from) const {
    const size_t end = std::min(text_.find('\n', from), text_.size());
    return end > from && text_[end - 1] == '\r' ? end - 1 : end;
  }
  void AfterLine(size_t from) { at_ = std::min(text_.find('\n', from), text_.size()) + 1; }

  void Tsv(std::vector<std::string>* fields) {
    const std::string_view line = text_.substr(at_, LineEnd(at_) - at_);
    for (size_t from = 0;;) {
      const size_t tab = std::min(line.find('\t', from), line.size());
      fields->emplace_back(line.substr(from, tab - from));
      if (tab == line.size()) break;
      from = tab + 1;
    }
    AfterLine(at_);
  }
  void Csv(std::vector<std::string>* fields, std::string* problem) {
    for (bool more = true; more;) {
      if (at_ < text_.size() && text_[at_] == '"')
        Quoted(&fields->emplace_back());
      else
        Bare(&fields->emplace_back(), problem);
      more = at_ < text_.size() && text_[at_] == ',';
      more ? void(++at_) : AfterLine(at_);
    }
  }
  // Up to the comma or the line break after it.
  void Bare(std::string* field, std::string* problem) {
    const size_t line_end = LineEnd(at_), end = std::min(text_.find(',', at_), line_end);
    field->assign(text_.substr(at_, end - at_));
    if (field->find('"') != std::string::npos)
      *problem = "a quote inside an unquoted field (RFC 4180: quote the field and double the quote)";
    at_ = end;
  }
  void Quoted(std::string* field) {
    for (++at_;;) {
      const size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos)
        throw BadFile("a quoted field of the row at line " + std::to_string(line_) +
                      " is not closed before the end of the file");
      field->append(text_, at_, quote - at_);
      at_ = quote + 1;
      if (at_ == text_.size() || text_[at_] != '"') break;
      field->push_back('"');
      ++at_;
    }
    const size_t end = LineEnd(at_);
    if (at_ == end || text_[at_] == ',') return;
    // The quote may have closed the field, or it should have been doubled, so the end of the row is unknown.
    throw BadFile("row at line " + std::to_string(line_) + ": expected a comma or the end of the line after field " +
                  Excerpt(*field) + ", got " + Excerpt(text_.substr(at_, end - at_)) +
                  "; the end of the row is unknown, so the rest of the file cannot be read");
  }

  std::string_view text_;
  bool csv_;
  size_t at_ = 0;  // text_.size() + 1: all is read
  uint64_t line_ = 1, next_line_ = 1;
};

class TableReader : public RecordReader {
 public:
  TableReader(std::string_view text, Format format, const Columns& columns) : rows_(text, format) {
    std::string problem;
    if (!rows_.Next(&header_, &problem)) throw BadFile("expected a header, got an empty file");
    for (const std::string& name : header_)
      if (FindBadUtf8(name) != std::string::npos) throw BadFile("the header is not UTF-8");
    if (!problem.empty()) throw BadFile("header: " + problem);
    source_ = IndexOf(columns.source);
    for (const std::string& target : columns.targets) targets_.push_back(IndexOf(target));
    if (!columns.id.empty()) id_ = static_cast<int>(IndexOf(columns.id));
  }

  bool Next(Record* out) override {
    std::string problem;
    if (!rows_.Next(&fields_, &problem)) return false;
    out->place = {++row_, rows_.line(), ""};
    if (fields_.size() != header_.size())
      throw BadRow(
          out->place,
          "expected " + std::to_string(header_.size()) + " fields as in the header, got " + std::to_string(fields_.size()),
          fields_.size() < header_.size());
    if (!problem.empty()) throw BadRow(out->place, problem);
    for (size_t i = 0; i < fields_.size(); ++i)
      if (const size_t bad = FindBadUtf8(fields_[i]); bad != std::string::npos)
        throw BadRow(out->place, "byte " + std::to_string(bad + 1) + " of field '" + header_[i] + "' is not UTF-8");
    out->targets.clear();
    for (const size_t target : targets_) out->targets.push_back(fields_[target]);
    if (id_ >= 0) out->place.id = fields_[id_];
    out->source = fields_[source_];
    return true;
  }

 private:
  size_t IndexOf(const std::string& name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found != header_.end() && std::find(found + 1, header_.end(), name) != header_.end())
      throw BadFile("the header has the column '" + name + "' twice");
    if (found != header_.end()) return found - header_.begin();
    std::string all;
    for (const std::string& column : header_) all += (all.empty() ? "'" : ", '") + column + "'";
    throw BadFile("has no column '" + name + "'; columns: " + all);
  }

  Rows rows_;
  std::vector<std::string> header_, fields_;
  size_t source_;
  std::vector<size_t> targets_;
  int id_ = -1;
  uint64_t row_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> ReadTable(std::string_view text, Format format, const Columns& columns) {
  return std::make_unique<TableReader>(text, format, columns);
}

}  // namespace backplane::summarization
