#include "command/report_channel.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bounded.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/printable.hpp"
#include "command/bare_words.hpp"
#include "record/attempt_json.hpp"

namespace backplane {
namespace {

constexpr size_t kShownOfBroken = 80;

// Languages without integers may write a step as 1000.0.
std::optional<uint64_t> StepOf(const nlohmann::json& step) {
  if (step.is_number_unsigned()) return step.get<uint64_t>();
  const double number = step.is_number() ? step.get<double>() : -1;
  return number >= 0 && number < 0x1p63 ? std::optional(static_cast<uint64_t>(number)) : std::nullopt;
}

}  // namespace

std::optional<Report> ReportOfLine(std::string_view line, ReportFaults* faults) {
  ReportFaults unused;
  if (faults == nullptr) faults = &unused;
  nlohmann::json json = ParseAttemptJson(line);
  if (json.is_discarded()) {
    const std::optional<std::string> cured = WithoutBareWords(line);
    if (cured) json = ParseAttemptJson(*cured);
    faults->bare_words = cured && !json.is_discarded();
  }
  const nlohmann::json& values = At(json, "values");
  Report report;
  report.error = Text(At(json, "error"));
  if (!values.is_object() && report.error.empty()) return std::nullopt;
  report.step = StepOf(At(json, "step"));
  for (const auto& [name, value] : values.items()) {
    if (value.is_number()) {
      report.values[name] = value.get<double>();
    } else if (value.is_null() || (value.is_string() && IsNotFiniteWord(value.get_ref<const std::string&>()))) {
      report.values[name] = std::nan("");
    } else {
      faults->not_numbers[name] = JsonText(value);
    }
  }
  return report;
}

void ReportChannel::Lines::Add(std::string_view line) {
  if (count++ == 0) first = Printable(Bounded(line, kShownOfBroken));
}

void ReportChannel::Add(std::string_view bytes, const UseReport& use) {
  lines_.Add(bytes, [&](std::string_view line) {
    if (line.empty()) return;
    ReportFaults faults;
    const std::optional<Report> report = ReportOfLine(line, &faults);
    for (const auto& [name, found] : faults.not_numbers) not_numbers_.Add(name, found);
    if (faults.bare_words) with_bare_words_.Add(line);
    if (!report) return broken_.Add(line);
    if (!report->error.empty()) error_ = report->error;
    if (!report->empty()) use(*report);
  });
}

std::vector<std::string> ReportChannel::Warnings() const {
  std::vector<std::string> all;
  if (broken_.count > 0)
    all.push_back(
        fmt::format("BACKPLANE_REPORT_FD: expected one JSON report per line; other lines are ignored\n"
                    "{} of them, the first one: {}",
                    broken_.count, broken_.first));
  if (with_bare_words_.count > 0)
    all.push_back(
        fmt::format("BACKPLANE_REPORT_FD: expected null for a number that is not finite; NaN and Infinity are not JSON and "
                    "count as null\n{} lines, the first one: {}",
                    with_bare_words_.count, with_bare_words_.first));
  for (std::string& warning : not_numbers_.Warnings()) all.push_back(std::move(warning));
  return all;
}

}  // namespace backplane
