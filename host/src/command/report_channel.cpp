#include "command/report_channel.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/bounded.hpp"
#include "base/json_fields.hpp"
#include "base/printable.hpp"
#include "record/attempt_json.hpp"

namespace backplane {
namespace {

constexpr size_t kShownOfBroken = 80;

// A step may come as 1000.0 from a language that has no integers.
std::optional<uint64_t> StepOf(const nlohmann::json& step) {
  if (step.is_number_unsigned()) return step.get<uint64_t>();
  const double number = step.is_number() ? step.get<double>() : -1;
  return number >= 0 && number < 0x1p63 ? std::optional(static_cast<uint64_t>(number)) : std::nullopt;
}

}  // namespace

std::optional<Report> ReportOfLine(std::string_view line) {
  const nlohmann::json json = ParseAttemptJson(line);
  const nlohmann::json& values = At(json, "values");
  if (!values.is_object()) return std::nullopt;
  Report report;
  report.step = StepOf(At(json, "step"));
  for (const auto& [name, value] : values.items()) {
    if (value.is_number()) report.values[name] = value.get<double>();
    if (value.is_null()) report.values[name] = std::nan("");
  }
  return report;
}

void ReportChannel::Add(std::string_view bytes, const UseReport& use) {
  lines_.Add(bytes, [&](std::string_view line) {
    if (line.empty()) return;
    const std::optional<Report> report = ReportOfLine(line);
    if (report && !report->empty()) return use(*report);
    if (report) return;
    if (broken_lines_++ == 0) first_broken_ = Printable(Bounded(line, kShownOfBroken));
  });
}

}  // namespace backplane
