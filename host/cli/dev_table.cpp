#include "cli/dev_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "text/format_number.hpp"

namespace backplane {
namespace {

std::string NumberText(const std::optional<double>& value) {
  constexpr int kDigits = 4;
  return value ? FormatNumber(Reading(*value), kDigits) : "-";
}

// A base of 0 or less has no percentage, so the difference is printed.
std::string ChangeText(const std::optional<double>& before, const std::optional<double>& now) {
  if (!before || !now || !std::isfinite(*before) || !std::isfinite(*now)) return "";
  if (*before > 0) return fmt::format("{:+.1f} %", (*now / *before - 1) * 100);
  const double change = *now - *before;
  return (change < 0 ? "" : "+") + NumberText(change);
}

std::optional<double> MeanOfReturn(const std::optional<EpisodeMeans>& episodes) {
  return episodes && episodes->episode_return ? episodes->episode_return->mean : std::nullopt;
}

struct BuildRow {
  const char* name;
  std::optional<double> BuildMeasures::*value;
  bool compared = true;
};
constexpr BuildRow kBuildRows[] = {{"iterations", &BuildMeasures::iterations, false},
                                   {"steps/s", &BuildMeasures::steps_per_s},
                                   {"return", &BuildMeasures::episode_return},
                                   {"return of the evaluation", &BuildMeasures::evaluation},
                                   {"  floor, zero actions", &BuildMeasures::floor_zero},
                                   {"  floor, uniform actions", &BuildMeasures::floor_uniform}};

std::string BuildLine(const std::string& name, const std::string& before, const std::string& now, const std::string& change) {
  std::string text = fmt::format("{:<25} {:>12} {:>12} {:>10}", name, before, now, change);
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

std::string BuildHeading(const BuildMeasures* before, unsigned build) {
  return BuildLine("", before ? fmt::format("build {}", before->build) : "", fmt::format("build {}", build),
                   before ? "change" : "");
}

}  // namespace

BuildMeasures MeasuresOf(unsigned build, const TrialResult& result, const std::optional<StatusFile>& status) {
  BuildMeasures of{.build = build};
  if (status) {
    of.iterations = static_cast<double>(status->iteration);
    if (status->sps > 0) of.steps_per_s = status->sps;
    if (std::isfinite(status->episode_return)) of.episode_return = status->episode_return;
  }
  if (result.iterations) of.iterations = static_cast<double>(*result.iterations);
  if (result.sps) of.steps_per_s = result.sps;
  if (const auto trained = MeanOfReturn(result.training)) of.episode_return = trained;
  of.evaluation = MeanOfReturn(result.evaluation);
  of.floor_zero = MeanOfReturn(result.floor_zero);
  of.floor_uniform = MeanOfReturn(result.floor_uniform);
  return of;
}

std::string FormatBuilds(const BuildMeasures* before, const BuildMeasures& now) {
  std::string text = BuildHeading(before, now.build);
  for (const BuildRow& row : kBuildRows) {
    const std::optional<double> none, &a = before ? before->*row.value : none, &b = now.*row.value;
    if (a || b) text += BuildLine(row.name, before ? NumberText(a) : "", NumberText(b), row.compared ? ChangeText(a, b) : "");
  }
  return text;
}

std::string FormatRunning(const BuildMeasures* before, unsigned build) {
  const BuildRow& first = kBuildRows[0];
  return BuildHeading(before, build) + BuildLine(first.name, before ? NumberText(before->*first.value) : "", "running", "");
}

}  // namespace backplane
