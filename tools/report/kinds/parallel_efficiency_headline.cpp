#include "kinds/parallel_efficiency_headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "results/setting_speed.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

std::string Speed(const Setting& setting) { return FormatNumber(*setting.sps, 4) + " steps/s"; }

const Setting* Fastest(size_t series, const ParallelEfficiency& analysis) {
  const Setting* fastest = nullptr;
  for (const Setting& setting : analysis.settings) {
    if (setting.series == series && setting.sps && (!fastest || setting.sps->value > fastest->sps->value)) fastest = &setting;
  }
  return fastest;
}

const Setting* FastestOther(size_t series, const Setting& baseline, const ParallelEfficiency& analysis) {
  const Setting* fastest = nullptr;
  for (const Setting& setting : analysis.settings)
    if (setting.series == series && setting.sps && &setting != &baseline &&
        (!fastest || setting.sps->value > fastest->sps->value))
      fastest = &setting;
  return fastest;
}

// The fastest of the settings that are shown to be faster than the baseline; NULL if there are none.
const Setting* FastestShown(size_t series, const Setting& baseline, const ParallelEfficiency& analysis) {
  const Setting* fastest = nullptr;
  for (const Setting& setting : analysis.settings) {
    if (setting.series != series || !setting.sps || &setting == &baseline || !IsShownFaster(setting, baseline)) continue;
    if (!fastest || setting.sps->value > fastest->sps->value) fastest = &setting;
  }
  return fastest;
}

std::string OfSeries(size_t series, const ParallelEfficiency& analysis) {
  const Setting* fastest = Fastest(series, analysis);
  if (!fastest) return "no setting has a speed";
  const Setting& baseline = analysis.settings[*analysis.series[series].baseline];
  const auto others = std::count_if(analysis.settings.begin(), analysis.settings.end(), [&](const Setting& setting) {
    return setting.series == series && setting.sps && &setting != &baseline;
  });
  if (others == 0) return fmt::format("only {} has a speed ({}), so there is no comparison", baseline.name, Speed(baseline));
  if (!fastest->spread.is_enough())
    return fmt::format("too few seeds to name the fastest setting: {} has the highest speed so far ({}); raise sweep.seeds.n",
                       fastest->name, Speed(*fastest));
  // The highest speed may be of fewer seeds than another that is shown to be faster.
  if (fastest == &baseline || !IsShownFaster(*fastest, baseline)) fastest = FastestShown(series, baseline, analysis);
  if (!fastest) {
    const Setting& next = *FastestOther(series, baseline, analysis);
    return fmt::format(
        "no setting is shown to be faster than the baseline, {} ({}); {} is the fastest of the others, with {} times its "
        "speed: "
        "measure longer",
        baseline.name, Speed(baseline), next.name, FormatNumber(SpeedRatio(next, baseline), 3));
  }
  std::string text = fmt::format("{} is {} times as fast as {} ({})", fastest->name,
                                 FormatNumber(SpeedRatio(*fastest, baseline), 3), baseline.name, Speed(*fastest));
  const std::vector<std::string> alike = AsFastAs(*fastest, analysis);
  if (!alike.empty()) text += fmt::format("; it is not shown to be faster than {}", fmt::join(alike, ", "));
  return text;
}

}  // namespace

std::string ParallelEfficiencyHeadline(const ParallelEfficiency& analysis) {
  std::string text;
  for (size_t series = 0; series < analysis.series.size(); ++series) {
    const std::string label = analysis.series.size() > 1 ? analysis.series[series].label + ": " : "";
    text += (text.empty() ? "" : "; ") + label + OfSeries(series, analysis);
  }
  if (text.empty()) text = "no setting has a speed";
  if (analysis.series.size() <= 1) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  size_t runs = 0, without_speed = 0;
  for (const Setting& setting : analysis.settings)
    runs += setting.trials.size(), without_speed += setting.trials.size() - setting.usable;
  if (without_speed > 0) text += fmt::format("; {} of {} runs have no speed", without_speed, runs);
  const bool has_interval = text.find(" to ") != std::string::npos || text.find(" ± ") != std::string::npos;
  if (!has_interval) return text + ".";
  const auto known =
      std::ranges::find_if(analysis.settings, [](const Setting& setting) { return setting.sps && setting.sps->low; });
  return text + (known == analysis.settings.end()
                     ? "."
                     : fmt::format(". Intervals are 95 %, over {} {}.", known->sps->n, known->sps->of));
}

std::vector<std::string> AsFastAs(const Setting& fastest, const ParallelEfficiency& analysis) {
  std::vector<std::string> names;
  for (const Setting& other : analysis.settings) {
    if (&other != &fastest && other.series == fastest.series && other.sps && !IsShownFaster(fastest, other))
      names.push_back(other.name);
  }
  return names;
}

}  // namespace backplane
