#include "results/step_reduction.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace backplane {
namespace {

using Curve = std::vector<CurvePoint>;

constexpr std::string_view kMeanOf = "mean:", kStepOf = "step:", kArea = "area";

std::optional<double> NumberFromZero(std::string_view text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

double MeanFrom(const Curve& curve, double first_step) {
  double sum = 0;
  size_t count = 0;
  for (const CurvePoint& point : curve) {
    if (point.env_steps < first_step) continue;
    sum += point.value;
    ++count;
  }
  return sum / static_cast<double>(count);
}

std::optional<double> ValueAt(const Curve& curve, double step) {
  if (curve.back().env_steps < step) return std::nullopt;
  std::optional<double> value;
  for (const CurvePoint& point : curve)
    if (point.env_steps <= step) value = point.value;
  return value;
}

// On the line between the two points around the step.
double Between(const CurvePoint& a, const CurvePoint& b, double step) {
  return a.value + (b.value - a.value) * (step - a.env_steps) / (b.env_steps - a.env_steps);
}

std::optional<double> MeanHeight(const Curve& curve, double first, double last) {
  if (!(last > first)) return std::nullopt;
  double area = 0;
  for (size_t i = 1; i < curve.size(); ++i) {
    const CurvePoint &a = curve[i - 1], &b = curve[i];
    const double from = std::max(a.env_steps, first), to = std::min(b.env_steps, last);
    if (to > from) area += (Between(a, b, from) + Between(a, b, to)) / 2 * (to - from);
  }
  return area / (last - first);
}

}  // namespace

std::optional<StepReduction> StepReduction::Of(const std::string& how) {
  const std::string_view text = how;
  if (text == kArea) return StepReduction(Kind::kArea, 0);
  if (text.starts_with(kStepOf)) {
    const auto number = NumberFromZero(text.substr(kStepOf.size()));
    return number ? std::optional(StepReduction(Kind::kStep, *number)) : std::nullopt;
  }
  if (!text.starts_with(kMeanOf) || !text.ends_with('%')) return std::nullopt;
  const auto number = NumberFromZero(text.substr(kMeanOf.size(), text.size() - kMeanOf.size() - 1));
  return number && *number > 0 && *number <= 100 ? std::optional(StepReduction(Kind::kMean, *number)) : std::nullopt;
}

void StepReduction::FindCommonSteps(const Combined& combined, const std::string& curve) {
  for (const CombinedTrial& trial : combined.trials) {
    const auto found = trial.data.curves.find(curve);
    if (!trial.data.usable() || found == trial.data.curves.end() || found->second.empty()) continue;
    const Range own{found->second.front().env_steps, found->second.back().env_steps};
    const auto [known, added] = common_.emplace(trial.group, own);
    known->second.first = std::max(known->second.first, own.first);
    known->second.last = std::min(known->second.last, own.last);
  }
}

std::optional<double> StepReduction::Value(const Curve& curve, size_t group) const {
  const double first = curve.front().env_steps, last = curve.back().env_steps;
  if (kind_ == Kind::kMean) return MeanFrom(curve, last - (last - first) * number_ / 100);
  if (kind_ == Kind::kStep) return ValueAt(curve, number_);
  const auto common = common_.find(group);
  return common == common_.end() ? std::nullopt : MeanHeight(curve, common->second.first, common->second.last);
}

}  // namespace backplane
