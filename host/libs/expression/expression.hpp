// Expressions of a sweep: "64 / learner.options.micro_batch", "env.plugin in ['a', 'b'] and rollout.num_env_runners <= 4".
// Numbers, text in quotes, lists, true, false, null, paths of the file, + - * / // % ( ), comparisons, and or not in,
// min max abs floor ceil log2. Nothing is executed.
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

// Why an expression has no value at one point.
struct NoValue {
  size_t offset = 0;  // bytes into the text
  std::string why;
  bool of_numbers = false;  // the numbers of this point have no result, such as 1 / 0; at another point they may
};

class Expression {
 public:
  // The value at a path; nothing, and a sentence in `why_not`, if there is none.
  using Lookup = std::function<std::optional<nlohmann::json>(const std::string& path, std::string* why_not)>;

  // Absent after an error at the column where the text stops making sense.
  static std::optional<Expression> Parse(const Node& text, Errors* errors);
  // An expression of measures, not of the file's paths: "100 * eval/score / minutes". A '/' with a name on both sides and no
  // blank is part of the name, and so is '@' ("train/loss@last"). Throws NoValue.
  static Expression OfMeasures(const std::string& text);

  // Throws NoValue.
  nlohmann::json Evaluate(const Lookup& lookup) const;
  // Throws NoValue also if the result is neither true nor false.
  bool Test(const Lookup& lookup) const;

  // Each path in it, once.
  const std::vector<std::string>& paths() const { return paths_; }
  const std::string& text() const { return text_; }
  // The text with the value of each path in its place: "64 / 3".
  std::string Filled(const Lookup& lookup) const;
  // The place in the file of an offset into the text.
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
