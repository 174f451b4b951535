#include "record/goal.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/format_count.hpp"
#include "base/json_fields.hpp"
#include "base/json_path.hpp"

namespace backplane {
namespace {

using nlohmann::json;

constexpr char kFor[] = "for", kDirection[] = "direction", kHigher[] = "maximize", kLower[] = "minimize";

int KnownDirection(const std::string& metric) { return metric == "eval/loss" ? -1 : 1; }

// Moves the name before `end` out of `text`, without blanks around it; empty: there is no `end`.
std::string_view NextPart(std::string_view* text, char end) {
  const size_t at = text->find(end);
  if (at == std::string_view::npos) return {};
  std::string_view part = text->substr(0, at);
  text->remove_prefix(at + 1);
  while (part.starts_with(' ')) part.remove_prefix(1);
  while (part.ends_with(' ')) part.remove_suffix(1);
  return part;
}

}  // namespace

std::string Goal::Words() const { return fmt::format("{} {}", metric, value); }
std::string Goal::StepsMeasure() const { return fmt::format("{}({}, {})", kStepsTo, metric, value); }
std::string Goal::ReachedMeasure() const { return fmt::format("{}({}, {})", kReached, metric, value); }

std::optional<Goal> GoalFromJson(const json& written, std::string* why_not) {
  const auto wrong = [&](const std::string& expected, const json& found) {
    *why_not = fmt::format("expected {}, got {}", expected, found.is_null() ? "nothing" : found.dump());
    return std::nullopt;
  };
  if (!written.is_object()) return wrong("a metric with its value, such as {eval/return: 475, for: 3}", written);
  std::optional<Goal> goal;
  for (const auto& [key, value] : written.items()) {
    if (key == kFor || key == kDirection) continue;
    if (goal) return wrong("one metric", fmt::format("{} and {}", goal->metric, key));
    if (!value.is_number() || !std::isfinite(value.get<double>())) return wrong("a finite number for " + key, value);
    goal = Goal{key, value.get<double>(), 1, KnownDirection(key)};
  }
  if (!goal) return wrong("a metric with its value, such as eval/return: 475", written);
  if (const auto in_a_row = written.find(kFor); in_a_row != written.end()) {
    const std::optional<uint64_t> count = CountOf(*in_a_row);
    if (count.value_or(0) < 1) return wrong("1 or more evaluations in a row as 'for'", *in_a_row);
    goal->in_a_row = *count;
  }
  if (const auto direction = written.find(kDirection); direction != written.end()) {
    if (*direction != kHigher && *direction != kLower) return wrong("direction: maximize or minimize", *direction);
    goal->direction = *direction == kHigher ? 1 : -1;
  }
  return goal;
}

json JsonOfGoal(const Goal& goal) {
  const bool is_whole = goal.value == std::floor(goal.value) && std::abs(goal.value) < 1e15;
  json written = {{goal.metric, is_whole ? json(static_cast<int64_t>(goal.value)) : json(goal.value)}, {kFor, goal.in_a_row}};
  if (goal.direction != KnownDirection(goal.metric)) written[kDirection] = goal.direction > 0 ? kHigher : kLower;
  return written;
}

std::optional<Goal> GoalOfMeasure(std::string_view name) {
  const std::string_view function = NextPart(&name, '(');
  if (function != kStepsTo && function != kReached) return std::nullopt;
  Goal goal;
  goal.metric = NextPart(&name, ',');
  goal.direction = KnownDirection(goal.metric);
  const std::string_view number = NextPart(&name, ')');
  const auto read = std::from_chars(number.data(), number.data() + number.size(), goal.value);
  const bool is_whole = read.ec == std::errc() && read.ptr == number.data() + number.size() && name.empty();
  return is_whole && !goal.metric.empty() && std::isfinite(goal.value) ? std::optional(goal) : std::nullopt;
}

std::optional<Goal> GoalOfConfig(const json& config) {
  std::string why_not;
  return GoalFromJson(AtPath(config, kUntil), &why_not);
}

std::string WhyNotComparable(const Goal& until, const std::string& metric) {
  const std::optional<Goal> asked = GoalOfMeasure(metric);
  const bool is_steps = asked && metric.starts_with(kStepsTo) && asked->metric == until.metric;
  if (is_steps && until.direction * asked->value <= until.direction * until.value) return "";
  return fmt::format("expected {}, got {}: trials end when they reach {} ({}), so {}", until.StepsMeasure(), metric,
                     until.Words(), kUntil, is_steps ? "the time to a harder goal is unknown" : "last values are biased");
}

bool GoalCount::Add(double value) {
  if (!reached()) in_a_row_ = goal_.IsReachedBy(value) ? in_a_row_ + 1 : 0;
  return reached();
}

std::string GoalResult::Sentence() const {
  const std::string steps = FormatCount(env_steps) + " env steps";
  if (!reached) return fmt::format("never reached {} in {}", Words(), steps);
  const std::string in_a_row_words = in_a_row > 1 ? fmt::format(" ({} evaluations in a row)", in_a_row) : "";
  return fmt::format("reached {} after {}{}", Words(), steps, in_a_row_words);
}

}  // namespace backplane
