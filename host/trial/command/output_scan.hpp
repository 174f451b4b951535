// Scans a command's output on its way to the attempt's logs: extracts measures (learner.metrics) and keeps the last lines.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/line_splitter.hpp"
#include "command/not_numbers.hpp"
#include "command/report.hpp"
#include "contract/line_pattern.hpp"

namespace backplane {

// The pattern with this name yields the steps of reports.
inline constexpr char kStepPattern[] = "step";

// Extracts the measures of learner.metrics from lines. All streams of a command share it, so that a step in one counts for the
// other.
class LineMeasures {
 public:
  // `metrics` was checked when the experiment was read; otherwise throws std::runtime_error.
  explicit LineMeasures(const nlohmann::json& metrics);

  bool empty() const { return patterns_.empty() && !step_pattern_; }
  // The first matches of all patterns form one report, the second ones another.
  void Use(std::string_view line, const UseReport& use);
  // Warnings about patterns that matched no number, in the form of record/warning_text.hpp.
  std::vector<std::string> Warnings() const { return not_numbers_.Warnings(); }

 private:
  // One report for the first matches of all patterns, one for the second ones, and so on. Leaves out texts.
  std::vector<Report> ReportsIn(std::string_view line);

  NotNumbers not_numbers_;
  std::map<std::string, LinePattern> patterns_;
  std::optional<LinePattern> step_pattern_;
  std::optional<uint64_t> step_;
};

// One stream. Without patterns, it costs no more than copying the bytes.
class OutputScan {
 public:
  explicit OutputScan(LineMeasures* measures) : measures_(*measures) {}

  void Add(std::string_view bytes, const UseReport& use);
  void Finish(const UseReport& use);
  // At most `count` non-empty ones, from the last few KiB.
  std::vector<std::string> LastLinesOf(size_t count) const;

 private:
  LineMeasures& measures_;
  LineSplitter lines_{LinePattern::kMostLine};
  std::string tail_;
};

}  // namespace backplane
