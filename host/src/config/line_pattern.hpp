// A pattern over lines that a program prints, whose one group is a number: "episodic_return=([-0-9.]+)".
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

class LinePattern {
 public:
  // Absent, and a sentence in `why_not`: it is no regular expression (ECMAScript's, as in Python for what is common), or has
  // not exactly one group.
  static std::optional<LinePattern> Make(const std::string& text, std::string* why_not);

  // The text of the group and its number, NaN if it is no number.
  struct Match {
    double number = 0;
    std::string text;
  };
  // From left to right.
  std::vector<Match> MatchesIn(std::string_view line) const;
  // The numbers of all matches, from left to right; what a group holds that is no number counts as not a number. Of a longer
  // line the first kMostLine bytes.
  std::vector<double> NumbersIn(std::string_view line) const;

  // The expression's matcher calls itself for every character: much longer lines would take the stack.
  static constexpr size_t kMostLine = 4096;

 private:
  LinePattern(std::regex regex, std::string begin) : regex_(std::move(regex)), begin_(std::move(begin)) {}

  std::regex regex_;
  std::string begin_;  // with which each match begins: lines without it need not be matched
};

}  // namespace backplane
