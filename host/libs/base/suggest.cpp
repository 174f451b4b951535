#include "base/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace backplane {
namespace {

constexpr size_t kMaxNames = 3;
constexpr size_t kMaxLength = 200;  // longer texts are not misspelt names

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

// The edit distance of texts in small letters, or any number above `most`. A swap of two letters counts one, like a changed,
// an added or a missing letter.
size_t DistanceWithin(std::string_view a, std::string_view b, size_t most) {
  // Much longer or shorter texts need no comparison.
  if (b.size() > kMaxLength || std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  size_t rows[3][kMaxLength + 1];
  size_t *row = rows[0], *before = rows[1], *before_that = rows[2];
  std::iota(row, row + b.size() + 1, size_t{0});
  size_t least = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    std::swap(before_that, before), std::swap(before, row);
    const size_t least_before = least;
    row[0] = least = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min(before[j] + (a[i] != b[j]), std::min(row[j], before[j + 1]) + 1);
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before_that[j - 1] + 1);
      least = std::min(least, row[j + 1]);
    }
    if (least > most && least_before > most) return least;  // it only grows from here on
  }
  return row[b.size()];
}

// "entropy" -> "ent", "entrpy", "etpy": its first letter and a subsequence of the others.
bool IsCutFrom(std::string_view part, std::string_view word) {
  if (part.empty() || word.empty() || part[0] != word[0]) return false;
  size_t taken = 0;
  for (const char c : word) taken += taken < part.size() && part[taken] == c;
  return taken == part.size();
}

// For lower-case texts: true for a prefix of `word`, or if each of its words is cut short ("ent_coef" for "entropy_coeff") to
// at least half its length.
bool IsAbbreviation(std::string_view name, std::string_view word) {
  constexpr size_t kLeast = 3;  // shorter ones match too many words
  if (name.size() < kLeast || name.size() >= word.size()) return false;
  if (word.starts_with(name)) return true;
  if (2 * name.size() < word.size()) return false;
  for (;;) {
    const size_t end = name.find('_'), word_end = word.find('_');
    if (!IsCutFrom(name.substr(0, end), word.substr(0, word_end))) return false;
    if ((end == name.npos) != (word_end == word.npos)) return false;
    if (end == name.npos) return true;
    name.remove_prefix(end + 1), word.remove_prefix(word_end + 1);
  }
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

std::vector<std::string> NearestOrLonger(std::string_view name, const std::vector<Candidate>& candidates) {
  std::vector<std::string> names = Nearest(name, candidates);
  if (!names.empty() || name.size() > kMaxLength) return names;
  const std::string lower = Lower(name);
  std::vector<const Candidate*> longer;
  for (const Candidate& candidate : candidates)
    if (candidate.word.size() <= kMaxLength && IsAbbreviation(lower, Lower(candidate.word))) longer.push_back(&candidate);
  std::stable_sort(longer.begin(), longer.end(),
                   [](const Candidate* a, const Candidate* b) { return a->word.size() < b->word.size(); });
  for (const Candidate* candidate : longer) {
    if (names.size() == kMaxNames) break;
    if (std::find(names.begin(), names.end(), candidate->shown) == names.end()) names.push_back(candidate->shown);
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
