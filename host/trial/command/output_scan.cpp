#include "command/output_scan.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "command/bare_words.hpp"

namespace backplane {
namespace {

constexpr size_t kTailBytes = 16 << 10;

// A regular expression's group often includes the punctuation after the word.
bool IsNotFinite(std::string_view text) {
  const size_t last = text.find_last_not_of(".,;:)]} \t");
  return last != text.npos && IsNotFiniteWord(text.substr(0, last + 1));
}

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

std::vector<Report> LineMeasures::ReportsIn(std::string_view line) {
  std::vector<Report> reports;
  for (const auto& [name, pattern] : patterns_) {
    const std::vector<LinePattern::Match> matches = pattern.MatchesIn(line);
    if (reports.size() < matches.size()) reports.resize(matches.size());
    for (size_t i = 0; i < matches.size(); ++i) {
      if (std::isnan(matches[i].number) && !IsNotFinite(matches[i].text)) {
        not_numbers_.Add(name, matches[i].text);
      } else {
        reports[i].values[name] = matches[i].number;
      }
    }
  }
  return reports;
}

void LineMeasures::Use(std::string_view line, const UseReport& use) {
  std::vector<double> steps;
  if (step_pattern_) steps = step_pattern_->NumbersIn(line);
  std::vector<Report> reports = ReportsIn(line);
  for (size_t i = 0; i < std::max(steps.size(), reports.size()); ++i) {
    if (i < steps.size() && steps[i] >= 0 && steps[i] < 0x1p63) step_ = static_cast<uint64_t>(steps[i]);
    if (i >= reports.size() || reports[i].empty()) continue;
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
