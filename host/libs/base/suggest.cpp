#include "base/suggest.hpp"

#include <algorithm>
#include <numeric>

namespace backplane {
namespace {

constexpr size_t kMaxNames = 3;
constexpr size_t kMaxLength = 200;  // what is longer is no misspelt name

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

// Of texts in small letters; anything above `most` if it is more.
size_t DistanceWithin(std::string_view a, std::string_view b, size_t most) {
  // Each letter too many or too few counts one: what is much longer or shorter need not be compared.
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0], least = i + 1;
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min(replaced, std::min(row[j], diagonal) + 1);
      least = std::min(least, row[j + 1]);
    }
    if (least > most) return least;  // it only grows from here on
  }
  return row[b.size()];
}

}  // namespace

std::vector<Candidate> Candidates(const std::vector<std::string>& names) {
  std::vector<Candidate> candidates;
  for (const std::string& name : names) candidates.push_back({name, name});
  return candidates;
}

std::vector<std::string> Nearest(std::string_view name, const std::vector<Candidate>& candidates) {
  struct Scored {
    size_t distance;
    const Candidate* candidate;
  };
  const size_t farthest = std::max<size_t>(1, name.size() / 3);
  std::vector<Scored> scored;
  if (name.size() > kMaxLength) return {};
  const std::string lower = Lower(name);
  for (const Candidate& candidate : candidates) {
    if (candidate.word.size() > name.size() + farthest) continue;
    const size_t distance = DistanceWithin(lower, Lower(candidate.word), farthest);
    bool near = distance <= farthest && distance < std::max(name.size(), candidate.word.size());
    if (near) scored.push_back({distance, &candidate});
  }
  std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.distance < b.distance; });
  std::vector<std::string> names;
  for (const Scored& s : scored) {
    bool much_farther = s.distance > scored[0].distance + (scored[0].distance == 0 ? 0 : 1);
    if (much_farther || names.size() == kMaxNames) break;
    if (std::find(names.begin(), names.end(), s.candidate->shown) == names.end()) names.push_back(s.candidate->shown);
  }
  return names;
}

std::string DidYouMean(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string text = "; did you mean '" + names[0] + "'";
  for (size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " or '" : ", '") + names[i] + "'";
  return text + "?";
}

}  // namespace backplane
