#include "cli/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace backplane {
namespace {

constexpr size_t kMostNames = 3;

size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> Suggestions(const std::string& typed, const std::vector<std::string>& known) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : known) {
    const size_t distance = EditDistance(typed, name);
    const bool begun = typed.size() >= 3 && name.starts_with(typed);
    if (begun || distance <= 1 + typed.size() / 4) {
      near.emplace_back(distance, name);
    }
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(near.size(), kMostNames); ++i) {
    names.push_back(near[i].second);
  }
  return names;
}

std::string DidYouMean(const std::string& typed, const std::vector<std::string>& known) {
  const std::vector<std::string> names = Suggestions(typed, known);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "; did you mean '" : i + 1 == names.size() ? " or '" : ", '") + names[i] + "'";
  }
  return text.empty() ? text : text + "?";
}

}  // namespace backplane
