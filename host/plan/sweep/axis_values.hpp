// The values of an axis: a list, a range, draws.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "expression/expression.hpp"

namespace backplane {

struct AxisValues {
  std::vector<Node> values;
  std::shared_ptr<const Expression> when;
  std::string why;  // the reason for the axis, for readers of the report
};

// [a, b], {range: [start, stop, step]} with the stop included, {values: [a, b]}, the last two also with `when` and `why`. Empty
// after an error.
AxisValues ReadAxisValues(const Node& node, const std::string& path, Errors* errors);

// A `why:`, the reason for a point or an axis. It changes no trial. Empty after an error.
std::string ReadReason(const Node& node, const std::string& name, Errors* errors);

// start, stop (included), step
std::vector<Node> ReadRange(const Node& node, const std::string& path, Errors* errors);

// The distribution of one path in `random.space`: {log_uniform: [1.0e-5, 1.0e-2]}, {int: [1, 9], step: 2}, {choice: [a, b]}.
class Distribution {
 public:
  // Absent after an error.
  static std::optional<Distribution> Read(const Node& node, const std::string& path, Errors* errors);

  // Of `choice`; empty for the others.
  const std::vector<Node>& choices() const { return choices_; }
  // Their values as the search receives them. One that equals an earlier value is its text, such as 1.10 after 1.1.
  std::vector<nlohmann::json> ChoicesJson() const;
  const std::shared_ptr<const Expression>& when() const { return when_; }

  // A number in [0,1) that depends only on its arguments, so the order of keys and draws does not change it.
  static double Uniform(uint64_t seed, uint64_t draw, const std::string& path);
  size_t Choose(double uniform) const;
  Node Draw(double uniform) const;  // not of `choice`
  // A value that somebody else has drawn.
  Node Given(double value) const;
  // As the file has it, without `when`: {"int": [1, 9], "step": 2}.
  nlohmann::json Json() const;

 private:
  bool ReadStep(const Node& node, const std::string& path, Errors* errors);
  bool ReadBounds(const Node& node, const std::string& path, Errors* errors);

  std::string kind_;
  Mark mark_;
  double low_ = 0, high_ = 0, step_ = 0;  // step 0: none
  std::vector<Node> choices_;
  std::shared_ptr<const Expression> when_;
};

}  // namespace backplane
