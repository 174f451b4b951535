#include "config/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace backplane {

void Errors::Add(const Mark& mark, std::string message) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  if (mark.source) {
    size_t index = mark.line > 0 ? static_cast<size_t>(mark.line) - 1 : 0;
    diagnostic.file = mark.source->name;
    diagnostic.line = mark.source->is_file ? mark.line : 0;
    diagnostic.column = mark.column;
    if (index < mark.source->lines.size()) diagnostic.source_line = mark.source->lines[index];
  }
  found_.push_back({mark.source ? mark.source->order : 0, std::move(diagnostic)});
}

void Errors::AddFile(const std::string& file, std::string message) {
  found_.push_back({-1, Diagnostic{file, 0, 0, std::move(message), ""}});
}

void Errors::AddNewPlaces(const Errors& other) {
  std::set<std::tuple<int, int, int>> places = places_;
  for (const Found& found : other.found_) {
    std::tuple place{found.order, found.diagnostic.line, found.diagnostic.column};
    if (places_.contains(place)) continue;
    places.insert(place);
    found_.push_back(found);
  }
  places_ = std::move(places);
}

std::vector<Diagnostic> Errors::Sorted() const {
  auto place = [](const Found& f) { return std::tie(f.order, f.diagnostic.line, f.diagnostic.column); };
  std::vector<Found> sorted = found_;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Found& a, const Found& b) { return place(a) < place(b); });
  std::vector<Diagnostic> result;
  for (const Found& f : sorted) {
    bool known = std::any_of(result.begin(), result.end(), [&](const Diagnostic& d) {
      return std::tie(d.file, d.line, d.column, d.message, d.source_line) == std::tie(f.diagnostic.file, f.diagnostic.line,
                                                                                      f.diagnostic.column, f.diagnostic.message,
                                                                                      f.diagnostic.source_line);
    });
    if (!known) result.push_back(f.diagnostic);
  }
  return result;
}

std::string Format(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) text += fmt::format(":{}:{}", diagnostic.line, diagnostic.column);
  text += fmt::format("{}error: {}", text.empty() ? "" : ": ", diagnostic.message);
  if (diagnostic.source_line.empty()) return text;
  text += fmt::format("\n  {}", diagnostic.source_line);
  if (diagnostic.column > 0) text += fmt::format("\n  {:>{}}", '^', diagnostic.column);
  return text;
}

}  // namespace backplane
