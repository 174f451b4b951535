#include "command/curve_join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace backplane {
namespace {

// After so many reports without a main metric, the first one counts: the script may have changed its metrics.
constexpr size_t kMostHeld = 64;

std::optional<uint64_t> StepOf(const Report& report) {
  if (report.step) return report.step;
  const auto found = report.values.find("env_steps");
  if (found == report.values.end() || !(found->second >= 0 && found->second < 0x1p63)) return std::nullopt;
  return static_cast<uint64_t>(found->second);
}

// Removes the metrics of `later` from a line of the same step. True: the line has none left.
bool Supersede(const Report& later, Iteration* line) {
  constexpr std::string_view kEval = "eval/";
  for (const auto& [name, value] : later.values) {
    if (name == "return") line->episode_return.reset();
    if (line->ep) line->ep->erase(name);
    if (line->eval && name == "eval/return") line->eval->episode_return.reset();
    if (line->eval && name.starts_with(kEval)) line->eval->metrics.erase(name.substr(kEval.size()));
    line->metrics.erase(name);
  }
  return ReportedValues(*line).empty();
}

}  // namespace

bool CurveJoin::IsMain(const Report& report) {
  const std::set<std::string>& names = before_.MainMetrics();
  return names.empty() || std::ranges::any_of(report.values, [&](const auto& value) { return names.contains(value.first); });
}

bool CurveJoin::Add(const Report& report, double attempt_s) {
  held_.push_back({report, attempt_s});
  const std::optional<uint64_t> step = StepOf(report);
  if (before_.empty()) return is_known_ = true;
  if ((step || !before_.has_steps()) && IsMain(report)) {
    if (before_.has_steps()) place_ = step;
    first_own_ = held_.size() - 1;
    return is_known_ = true;
  }
  if (held_.size() < kMostHeld) return false;
  if (before_.has_steps()) place_ = StepOf(held_.front().report);
  return is_known_ = true;
}

// A script without a checkpoint repeats its first values. Times and speeds differ even then, and constants are no evidence.
bool CurveJoin::Repeats(const Iteration& first) const {
  const std::map<std::string, double>& now = held_.back().report.values;
  std::map<std::string, double> deciding = now;
  std::erase_if(deciding, [](const auto& one) { return !IsOfEpisodes(one.first) && !DecidesDivergence(one.first); });
  size_t compared = 0;
  const size_t equal_deciding = before_.CountEqual(deciding, first, &compared);
  if (compared > 0) return equal_deciding == compared;
  const size_t equal = before_.CountEqual(now, first, &compared);
  return compared == 0 || 2 * equal > compared;
}

// The attempt begins at or before the first step of the kept lines.
void CurveJoin::StartAgain(const Iteration& first) {
  first_own_ = 0;
  if (*place_ < *first.step || Repeats(first)) {
    before_.KeepBefore(0);
    return;
  }
  warning_ = fmt::format(
      "the steps of a resumed attempt start again at their first value, with other metrics; both parts of the curve are kept\n"
      "part 1: reports 1 to {}, up to step {}; part 2: attempt {}, from report {} and step {} on",
      before_.reports(), before_.step().value_or(0), attempt_, before_.reports() + 1, *place_);
}

void CurveJoin::Decide() {
  if (!is_known_) first_own_ = held_.size();
  if (is_known_ && !before_.empty() && !before_.has_steps()) before_.KeepBeforeRepeated(held_.back().report.values);
  if (place_) {
    const std::optional<Iteration> first = before_.FirstMainLine();
    if (first && first->step && *place_ <= *first->step) return StartAgain(*first);
    rewrites_ = !before_.KeepBefore(*place_);
  }
  for (size_t i = 0; i < first_own_; ++i) {
    const std::optional<uint64_t> step = StepOf(held_[i].report);
    rewrites_ = rewrites_ || (step && before_.step() && *step <= *before_.step());
  }
}

std::vector<Iteration> CurveJoin::Lines(const std::function<Iteration(const HeldReport&)>& line_of) const {
  std::vector<Iteration> lines = before_.InOrderOfSteps();
  for (size_t i = 0; i < first_own_; ++i) {
    Iteration line = line_of(held_[i]);
    const std::optional<uint64_t> step = StepOf(held_[i].report);
    if (!step) line.step = before_.step();
    std::erase_if(lines, [&](Iteration& one) {
      const bool had_any = !ReportedValues(one).empty();
      return one.step == line.step && had_any && Supersede(held_[i].report, &one);
    });
    auto at = lines.end();
    while (at != lines.begin() && line.step < std::prev(at)->step) --at;
    lines.insert(at, std::move(line));
  }
  return lines;
}

}  // namespace backplane
