#include "yaml/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/printable.hpp"
#include "base/text_columns.hpp"

namespace backplane {

namespace {

constexpr size_t kMany = 1000;
constexpr size_t kShownColumns = 200;
constexpr size_t kMessageColumns = 2000;  // a sentence may quote a key or a value that is as long as a file

Diagnostic DiagnosticOf(const Mark& mark, const std::string& file, const std::string& message, bool with_line) {
  Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.message = message;
  if (mark.source) {
    const size_t index = mark.line > 0 ? static_cast<size_t>(mark.line) - 1 : 0;
    diagnostic.file = mark.source->name;
    diagnostic.line = mark.source->is_file ? mark.line : 0;
    diagnostic.column = mark.column;
    if (with_line && index < mark.source->lines.size()) diagnostic.source_line = mark.source->lines[index];
  }
  return diagnostic;
}

// The line in at most kShownColumns, so cut that the column is among them, and a caret below it.
std::string ShownLine(const std::string& line, int column) {
  const size_t at = std::min(line.size(), column > 0 ? static_cast<size_t>(column) - 1 : 0);
  std::string before = Printable(std::string_view(line).substr(0, at)), mark;
  if (const size_t columns = Columns(before); columns > kShownColumns / 2) {
    mark = "...";
    // A byte may be shown as several columns, and a line of many columns may have few bytes.
    size_t from = at - std::min(at, kShownColumns / 4);
    do {
      before = Printable(std::string_view(line).substr(from, at - from));
    } while (Columns(before) > kShownColumns / 2 && ++from < at);
  }
  const size_t used = Columns(mark + before);
  std::string text = "\n  " + mark + before + Printable(std::string_view(line).substr(at), kShownColumns - used);
  if (column > 0) text += fmt::format("\n  {:>{}}", '^', used + 1);
  return text;
}

}  // namespace

void Errors::Add(const Mark& mark, std::string message, ErrorCode code, std::string hint) {
  found_.push_back({mark, "", std::move(message), code, std::move(hint)});
}

void Errors::AddFile(const std::string& file, std::string message) { found_.push_back({{}, file, std::move(message)}); }

void Errors::Note(const Mark& mark, const std::string& message) {
  const std::string place = Place(mark);
  std::string note = place.empty() ? message : place + ": " + message;
  if (noted_.insert(note).second) notes_.push_back(std::move(note));
}

void Errors::Append(const Errors& other) {
  for (const std::string& note : other.notes_) Note({}, note);
  found_.insert(found_.end(), other.found_.begin(), other.found_.end());
}

void Errors::AddNewPlaces(const Errors& other) {
  for (const std::string& note : other.notes_) Note({}, note);
  std::set<std::tuple<int, int, int>> places = places_;
  for (const Found& found : other.found_) {
    std::tuple place{found.order(), found.mark.line, found.mark.column};
    if (places_.contains(place)) continue;
    places.insert(place);
    found_.push_back(found);
  }
  places_ = std::move(places);
}

bool Errors::WantsHint(const Mark& mark) const {
  const bool known = all_ && all_->places_.contains({Found{mark, "", ""}.order(), mark.line, mark.column});
  return !unread_ && !known && found_.size() < kMany;
}

std::vector<Diagnostic> Errors::Sorted() const {
  const auto place = [](const Found& f) { return std::make_tuple(f.order(), f.mark.line, f.mark.column); };
  std::vector<const Found*> sorted;
  for (const Found& found : found_) sorted.push_back(&found);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Found* a, const Found* b) { return place(*a) < place(*b); });
  std::vector<Diagnostic> result;
  std::set<std::pair<std::string, std::string_view>> known;  // messages at one place, or of files without a place
  const Found* before = nullptr;
  for (const Found* f : sorted) {
    if (before && place(*before) != place(*f)) known.clear();
    before = f;
    const std::string& file = f->mark.source ? f->mark.source->name : f->file;
    if (!known.emplace(file, f->message).second) continue;
    result.push_back(DiagnosticOf(f->mark, f->file, f->message, result.size() < kShownErrors));
    result.back().code = f->code;
    result.back().hint = f->hint;
  }
  return result;
}

std::string Format(const Diagnostic& diagnostic) {
  std::string text = Printable(diagnostic.file);
  if (diagnostic.line > 0) text += fmt::format(":{}:{}", diagnostic.line, diagnostic.column);
  text += fmt::format("{}error: {}", text.empty() ? "" : ": ", Printable(diagnostic.message, kMessageColumns));
  if (!diagnostic.source_line.empty()) text += ShownLine(diagnostic.source_line, diagnostic.column);
  const bool is_short = diagnostic.hint.size() <= kShownColumns;  // a longer one would hide the error
  return diagnostic.hint.empty() || !is_short ? text : text + "\nhint: " + Printable(diagnostic.hint, kMessageColumns);
}

}  // namespace backplane
