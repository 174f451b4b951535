// What a command prints, on its way to the attempt's logs: measures by learner.metrics, and its last lines.
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

// The name that stands for the steps of a report among the patterns.
inline constexpr char kStepPattern[] = "step";

// The measures of learner.metrics in a line. Shared by the streams of a command: the step that one tells counts for the other.
class LineMeasures {
 public:
  // `metrics` was checked when the experiment was read. Throws std::runtime_error otherwise.
  explicit LineMeasures(const nlohmann::json& metrics);

  bool empty() const { return patterns_.empty() && !step_pattern_; }
  // The first matches of all patterns are one report, the second ones another.
  void Use(std::string_view line, const UseReport& use);
  // About patterns that matched something other than a number, in the form of record/warning_text.hpp.
  std::vector<std::string> Warnings() const { return not_numbers_.Warnings(); }

 private:
  // One for the first matches of all patterns, one for the second ones, and so on. Texts are left out.
  std::vector<Report> ReportsIn(std::string_view line);

  NotNumbers not_numbers_;
  std::map<std::string, LinePattern> patterns_;
  std::optional<LinePattern> step_pattern_;
  std::optional<uint64_t> step_;
};

// One stream. Costs no more than moving bytes where no measures are looked for.
class OutputScan {
 public:
  explicit OutputScan(LineMeasures* measures) : measures_(*measures) {}

  void Add(std::string_view bytes, const UseReport& use);
  void Finish(const UseReport& use);
  // At most `count` of them that are not empty, out of the last few KiB.
  std::vector<std::string> LastLinesOf(size_t count) const;

 private:
  LineMeasures& measures_;
  LineSplitter lines_{LinePattern::kMostLine};
  std::string tail_;
};

}  // namespace backplane
