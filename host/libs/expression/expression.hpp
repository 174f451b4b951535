// Expressions of a sweep: "64 / learner.options.micro_batch", "env.plugin in ['a', 'b'] and rollout.num_env_runners <= 4". They
// consist of numbers, quoted text, lists, true, false, null, paths of the file, + - * / // % ( ), comparisons, and or not in,
// min max abs floor ceil log2. They cannot execute code.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "yaml/document.hpp"
#include "yaml/errors.hpp"

namespace backplane {

// The reason why an expression has no value at a point.
struct NoValue {
  size_t offset = 0;  // bytes into the text
  std::string why;
  bool of_numbers = false;  // an arithmetic failure such as 1 / 0 at this point; others may have a value
};

class Expression {
 public:
  // Returns the value at a path, or nothing and a sentence in `why_not`.
  using Lookup = std::function<std::optional<nlohmann::json>(const std::string& path, std::string* why_not)>;

  // Absent after a syntax error, which has the column.
  static std::optional<Expression> Parse(const Node& text, Errors* errors);
  // An expression of measures instead of paths: "100 * eval/score / minutes". A '/' between names without blanks is part of the
  // name, and so is '@' ("train/loss@last"). "steps_to(eval/return, 475)" and "reached(...)" are names, too (record/goal.hpp).
  // Throws NoValue.
  static Expression OfMeasures(const std::string& text);

  // Throws NoValue.
  nlohmann::json Evaluate(const Lookup& lookup) const;
  // Throws NoValue also if the result is neither true nor false.
  bool Test(const Lookup& lookup) const;

  // The distinct paths in the expression.
  const std::vector<std::string>& paths() const { return paths_; }
  const std::string& text() const { return text_; }
  // The text with values substituted for the paths: "64 / 3".
  std::string Filled(const Lookup& lookup) const;
  // Converts an offset into the text to a place in the file.
  Mark At(size_t offset) const;

  struct Term;

 private:
  Expression() = default;
  void Read(bool of_measures);  // throws NoValue

  std::string text_;
  Mark mark_;
  bool quoted_ = false;
  std::shared_ptr<const Term> root_;
  std::vector<std::string> paths_;
  std::vector<std::pair<size_t, std::string>> references_;  // offset and path, in the order of the text
};

}  // namespace backplane
