#include "command/output_scan.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace backplane {
namespace {

constexpr size_t kTailBytes = 16 << 10;

LinePattern PatternOf(const std::string& text) {
  PatternError error;
  auto pattern = LinePattern::Make(text, &error);
  if (!pattern) throw std::runtime_error("learner.metrics: " + error.sentence);
  return *std::move(pattern);
}

}  // namespace

LineMeasures::LineMeasures(const nlohmann::json& metrics) {
  if (!metrics.is_object()) return;
  for (const auto& [name, pattern] : metrics.items()) {
    if (name == kStepPattern) {
      step_pattern_ = PatternOf(pattern.get<std::string>());
    } else {
      patterns_.emplace(name, PatternOf(pattern.get<std::string>()));
    }
  }
}

void LineMeasures::Use(std::string_view line, const UseReport& use) {
  std::vector<double> steps;
  if (step_pattern_) steps = step_pattern_->NumbersIn(line);
  std::vector<Report> reports;
  for (const auto& [name, pattern] : patterns_) {
    const std::vector<double> numbers = pattern.NumbersIn(line);
    if (reports.size() < numbers.size()) reports.resize(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) reports[i].values[name] = numbers[i];
  }
  for (size_t i = 0; i < std::max(steps.size(), reports.size()); ++i) {
    if (i < steps.size() && steps[i] >= 0 && steps[i] < 0x1p63) step_ = static_cast<uint64_t>(steps[i]);
    if (i >= reports.size()) continue;
    reports[i].step = step_;
    use(reports[i]);
  }
}

void OutputScan::Add(std::string_view bytes, const UseReport& use) {
  if (bytes.size() >= kTailBytes) {
    tail_ = bytes.substr(bytes.size() - kTailBytes);
  } else {
    tail_ += bytes;
    if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  }
  if (!measures_.empty()) lines_.Add(bytes, [&](std::string_view line) { measures_.Use(line, use); });
}

void OutputScan::Finish(const UseReport& use) {
  lines_.Finish([&](std::string_view line) { measures_.Use(line, use); });
}

std::vector<std::string> OutputScan::LastLinesOf(size_t count) const {
  std::vector<std::string> lines;
  LineSplitter splitter(kTailBytes);
  const auto keep = [&](std::string_view line) {
    if (line.find_first_not_of(" \t") != line.npos) lines.emplace_back(line);
  };
  splitter.Add(tail_, keep);
  splitter.Finish(keep);
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<ptrdiff_t>(count));
  return lines;
}

}  // namespace backplane
