// A pattern over lines that a program prints, whose one group is a number: "episodic_return=([-0-9.]+)".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace backplane {

struct PatternError {
  std::string sentence;
  size_t at = 0;  // byte of the pattern at which it starts
};

// RE2's syntax. Its matcher takes time in proportion to the line, whatever the pattern. It lacks backreferences and
// lookaround, which cost more.
class LinePattern {
 public:
  // Absent after an error: the text is not a pattern of RE2, or does not have exactly one group.
  static std::optional<LinePattern> Make(const std::string& text, PatternError* error);

  // The text of the group and its number, NaN if it is no number.
  struct Match {
    double number = 0;
    std::string text;
  };
  // All matches, from left to right. Only the first kMostLine bytes of a line are searched, and no further match after about a
  // second of work.
  std::vector<Match> MatchesIn(std::string_view line) const;
  // The numbers in the matches.
  std::vector<double> NumbersIn(std::string_view line) const;

  static constexpr size_t kMostLine = 4096;

 private:
  LinePattern(std::shared_ptr<const re2::RE2> regex, std::string begin);

  std::shared_ptr<const re2::RE2> regex_;
  std::string begin_;  // every match starts with it, so lines without it are skipped
};

}  // namespace backplane
