#include "results/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_text.hpp"

namespace backplane {
namespace {

using nlohmann::json;

class Chooser {
 public:
  Chooser(const Combined& combined, const json& wanted, const std::vector<Setting>& settings)
      : combined_(combined), wanted_(wanted), settings_(settings) {
    for (size_t i = 0; i < settings.size(); ++i) {
      if (!wanted.is_null() && IsWanted(settings[i])) matches_.push_back(i);
    }
  }

  void Choose(size_t series, ScoredSeries* out) const {
    const auto of_series = [&](size_t i) { return settings_[i].series == series; };
    const auto match = std::find_if(matches_.begin(), matches_.end(), of_series);
    const auto usable = std::find_if(matches_.begin(), matches_.end(), [&](size_t i) { return of_series(i) && HasSpeed(i); });
    if (usable != matches_.end()) {
      out->baseline = *usable;
      if (settings_[*usable].parallelism() != 1) out->baseline_note = "Because report.baseline is set, " + Scaled(*usable);
      return;
    }
    // Another series may have a point with that name or value.
    std::string problem;
    if (match != matches_.end()) {
      problem = fmt::format("the baseline of report.baseline ({}) has no speed: {}", settings_[*match].name,
                            settings_[*match].failure);
    } else if (!wanted_.is_null() && matches_.empty()) {
      problem = fmt::format("no point matches report.baseline ({})",
                            wanted_.is_string() ? wanted_.get<std::string>() : JsonText(wanted_));
    }
    FallBack(series, problem, out);
  }

 private:
  bool HasSpeed(size_t i) const { return settings_[i].sps.has_value(); }

  bool IsWanted(const Setting& setting) const {
    return std::any_of(setting.trials.begin(), setting.trials.end(), [&](size_t i) {
      const TrialData& trial = combined_.trials[i].data;
      if (!wanted_.is_object()) return wanted_ == trial.point;
      const auto& values = wanted_.items();
      return std::all_of(values.begin(), values.end(), [&](const auto& one) { return trial.At(one.key()) == one.value(); });
    });
  }

  // The settings are sorted: the first with a speed is the smallest, with the fewest runners.
  void FallBack(size_t series, std::string problem, ScoredSeries* out) const {
    std::string missing = "there is no setting with one env";
    for (size_t i = 0; i < settings_.size(); ++i) {
      const Setting& one = settings_[i];
      if (one.series != series) continue;
      if (!HasSpeed(i)) {
        if (one.parallelism() == 1) missing = "the setting with one env has no speed: " + one.failure;
        continue;
      }
      out->baseline = i;
      if (one.parallelism() == 1) {
        if (!problem.empty()) out->baseline_note = Sentence(problem, "the setting with one env is the baseline instead.");
      } else {
        if (problem.empty()) problem = missing;
        out->baseline_note = Sentence(problem, Scaled(i));
      }
      return;
    }
    out->baseline_note = "None of these trials has a speed, so there is no comparison.";
  }

  static std::string Sentence(std::string problem, const std::string& what) {
    problem[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(problem[0])));
    return problem + "; " + what;
  }

  std::string Scaled(size_t baseline) const {
    const Setting& setting = settings_[baseline];
    return fmt::format("speedups are relative to {} (parallelism {}), and efficiency divides them by parallelism / {}.",
                       setting.name, setting.parallelism(), setting.parallelism());
  }

  const Combined& combined_;
  const json& wanted_;
  const std::vector<Setting>& settings_;
  std::vector<size_t> matches_;  // of all series
};

}  // namespace

void ChooseBaselines(const Combined& combined, const json& wanted, ParallelEfficiency* analysis) {
  const Chooser chooser(combined, wanted, analysis->settings);
  for (size_t i = 0; i < analysis->series.size(); ++i) chooser.Choose(i, &analysis->series[i]);
}

}  // namespace backplane
