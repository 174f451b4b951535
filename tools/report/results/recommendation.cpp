#include "results/recommendation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "machine/resource_measures.hpp"
#include "statistics/welch_verdict.hpp"

namespace backplane {
namespace {

struct Limited {
  const char* name;
  std::array<const char*, 2> measures;  // uses the first measured one
  bool is_peak;
  bool is_of_gpu;
  std::optional<double> most_pct;
};
std::vector<Limited> LimitedBy(const BalancedLimits& limits) {
  std::vector<Limited> limited = {
      {"CPU", {resource_measure::kCpuQuotaPct, nullptr}, false, false, limits.cpu},
      {"RAM", {resource_measure::kMemoryLimitPct, resource_measure::kRamSystemPct}, true, false, limits.memory},
      {"GPU", {resource_measure::kGpuUtilPct, nullptr}, false, true, limits.gpu},
      {"VRAM", {resource_measure::kGpuMemoryPct, nullptr}, true, true, limits.device_memory}};
  std::erase_if(limited, [](const Limited& one) { return !one.most_pct; });
  return limited;
}

constexpr double kBalancedEfficiencyPct = 80;  // if report.balanced.efficiency is absent

// The distance of a setting from balanced use.
struct Distance {
  double beyond_pct = -INFINITY;  // excess over the worst broken limit; 0 or less: no limit is broken
  std::string worst;              // name of that limit
  std::string not_measured;       // "GPU, VRAM"
};

class Recommender {
 public:
  Recommender(const ParallelEfficiency& analysis, size_t series, const Combined& combined, const BalancedLimits& balanced)
      : settings_(analysis.settings),
        series_(analysis.series[series]),
        combined_(combined),
        least_efficiency_pct_(balanced.efficiency.value_or(kBalancedEfficiencyPct)),
        limited_(LimitedBy(balanced)) {
    for (size_t i = 0; i < settings_.size(); ++i) {
      if (settings_[i].series != series || !settings_[i].efficiency_pct) continue;
      if (settings_[i].failure.empty()) {
        scored_.push_back(i);
      } else {
        excluded_ += fmt::format("{}{} ({})", excluded_.empty() ? "" : ", ", settings_[i].name, settings_[i].failure);
      }
    }
    FindBestReturn();
  }

  Recommendation Throughput() const {
    Recommendation found{"throughput", std::nullopt, std::nullopt, Nothing()};
    for (const size_t i : scored_) {
      if (!found.setting || Sps(i) > Sps(*found.setting)) found.setting = i;
    }
    if (found.setting) found.why = fmt::format("the highest SPS of {}", Count()) + NotConsidered();
    return found;
  }

  Recommendation Efficiency() const {
    Recommendation found{"efficiency", std::nullopt, std::nullopt, Nothing()};
    for (const size_t i : scored_) {
      // The baseline is 100 % efficient by definition.
      if (i == series_.baseline && scored_.size() > 1) continue;
      if (!found.setting || EfficiencyOf(i) > EfficiencyOf(*found.setting)) found.setting = i;
    }
    if (!found.setting) return found;
    found.why = scored_.size() > 1 ? fmt::format("the highest efficiency of {1} without the baseline: {0:.1f} %",
                                                 EfficiencyOf(*found.setting), Count())
                                   : "the baseline is the only setting";
    found.why += NotConsidered();
    return found;
  }

  Recommendation Balanced() const {
    Recommendation found{"balanced", std::nullopt, std::nullopt, Nothing()};
    Distance best;
    for (const size_t i : scored_) {
      Distance distance = DistanceOf(i);
      const bool qualifies = distance.beyond_pct <= 0;
      if (qualifies && (!found.setting || Sps(i) > Sps(*found.setting))) {
        found.setting = i;
        best = distance;
      } else if (!found.setting && (!found.nearest || IsNearer(i, distance, *found.nearest, best))) {
        found.nearest = i;
        best = std::move(distance);
      }
    }
    if (found.setting) {
      found.nearest.reset();
      found.why = "the highest SPS with " + LimitsText(settings_[*found.setting]);
    } else if (found.nearest) {
      found.why =
          fmt::format("no setting is within all limits; {} comes closest, but {}", settings_[*found.nearest].name, best.worst);
    }
    if (found.setting || found.nearest) found.why += NotConsidered();
    if (!best.not_measured.empty()) found.why += "; not measured: " + best.not_measured;
    return found;
  }

 private:
  std::string NotConsidered() const { return excluded_.empty() ? "" : "; not considered: " + excluded_; }
  std::string Nothing() const {
    return excluded_.empty() ? "none of these trials has a speed"
                             : "no setting with only complete runs has a speed" + NotConsidered();
  }

  double Sps(size_t i) const { return settings_[i].sps->value; }
  double EfficiencyOf(size_t i) const { return *settings_[i].efficiency_pct; }
  std::string Count() const { return scored_.size() == 1 ? "the only setting" : fmt::format("{} settings", scored_.size()); }

  bool IsNearer(size_t a, const Distance& distance, size_t b, const Distance& best) const {
    return distance.beyond_pct < best.beyond_pct || (distance.beyond_pct == best.beyond_pct && Sps(a) > Sps(b));
  }

  // Mean over the seeds, or the largest peak. Absent if no seed has it.
  std::optional<double> UseOf(const Setting& setting, const char* measure, bool is_peak) const {
    std::vector<double> values;
    for (const size_t i : setting.trials) {
      const TrialData& trial = combined_.trials[i].data;
      const Number* number = trial.usable() && measure != nullptr ? trial.Find(measure) : nullptr;
      if (number != nullptr) values.push_back(is_peak ? number->max.value_or(number->value) : number->value);
    }
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) return std::nullopt;
    return is_peak ? *std::max_element(values.begin(), values.end()) : Mean(values, "seeds").value;
  }

  bool HasGpu(const Setting& setting) const {
    return std::any_of(setting.trials.begin(), setting.trials.end(),
                       [&](size_t i) { return combined_.trials[i].data.gpus > 0; });
  }

  Distance DistanceOf(size_t i) const {
    const Setting& setting = settings_[i];
    Distance distance;
    const double least = least_efficiency_pct_, own = setting.core_efficiency_pct.value_or(EfficiencyOf(i));
    distance = {least - own,
                fmt::format("its {}efficiency, {}, is below {:g} %", setting.core_efficiency_pct ? "core " : "",
                            Exact(own, least), least),
                ""};
    for (const Limited& limited : limited_) {
      std::optional<double> used;
      for (const char* measure : limited.measures)
        if (!used) used = UseOf(setting, measure, limited.is_peak);
      if (used && *used - *limited.most_pct > distance.beyond_pct) {
        distance.beyond_pct = *used - *limited.most_pct;
        distance.worst = fmt::format("its {} use of {}, {}, is above {:g} %", limited.is_peak ? "peak" : "mean", limited.name,
                                     Exact(*used, *limited.most_pct), *limited.most_pct);
      }
      // Trials without a GPU need no limit there.
      if (!used && (!limited.is_of_gpu || HasGpu(setting))) {
        distance.not_measured += (distance.not_measured.empty() ? "" : ", ") + std::string(limited.name);
      }
    }
    if (const std::string worst = ReturnFlaw(setting); !worst.empty()) {
      distance.beyond_pct = INFINITY;
      distance.worst = worst;
    }
    return distance;
  }

  // The finite returns of a setting's seeds.
  std::vector<double> ReturnsOf(const Setting& setting) const {
    std::vector<double> returns;
    for (const size_t i : setting.trials) {
      const TrialData& trial = combined_.trials[i].data;
      const Number* number = trial.usable() ? trial.Find(return_) : nullptr;
      if (number != nullptr && std::isfinite(number->value)) returns.push_back(number->value);
    }
    return returns;
  }

  void FindBestReturn() {
    for (const CombinedTrial& trial : combined_.trials)
      if (trial.data.Find("eval/return") != nullptr) return_ = "eval/return";
    double best = -INFINITY;
    for (const size_t i : scored_) {
      const std::vector<double> returns = ReturnsOf(settings_[i]);
      if (returns.empty() || Mean(returns, "seeds").value <= best) continue;
      best_return_ = i;
      best = Mean(returns, "seeds").value;
    }
  }

  // The reason why its return is not balanced. Empty if it is, or was not measured.
  std::string ReturnFlaw(const Setting& setting) const {
    const auto diverged = [this](size_t i) {
      const TrialData& trial = combined_.trials[i].data;
      const Number* number = trial.Find(return_);
      return number != nullptr ? !std::isfinite(number->value) : trial.not_finite.contains(return_);
    };
    if (const auto n = std::ranges::count_if(setting.trials, diverged); n > 0)
      return fmt::format("the return of {} of {} seeds is not finite", n, setting.trials.size());
    if (!best_return_) return "";
    const Setting& best = settings_[*best_return_];
    const std::vector<double> own = ReturnsOf(setting), others = ReturnsOf(best);
    const statistics::Verdict verdict = statistics::Judge(own, others);
    // Four seeds or more without a spread give p < 0.03 in the exact test.
    const bool is_below =
        verdict == statistics::Verdict::kLess || (verdict == statistics::Verdict::kUndefined && own.front() < others.front());
    return is_below ? fmt::format("its return is shown to be below the best ({})", best.name) : "";
  }

  // "a core efficiency of at least 80 %, at most 80 % of RAM in use, a return not shown to be below the best"
  std::string LimitsText(const Setting& setting) const {
    std::string text =
        fmt::format("{} efficiency of at least {:g} %", setting.core_efficiency_pct ? "a core" : "an", least_efficiency_pct_);
    for (const Limited& limited : limited_)
      text += fmt::format(", at most {:g} % of {} in use", *limited.most_pct, limited.name);
    if (!best_return_ || scored_.size() == 1) return text;
    const size_t seeds = std::min(ReturnsOf(setting).size(), ReturnsOf(settings_[*best_return_]).size());
    return text + (seeds < statistics::kLeastToJudge
                       ? fmt::format("; returns were not compared, because that needs {} seeds", statistics::kLeastToJudge)
                       : ", a return not shown to be below the best");
  }

  // 79.96 would print like the limit that it misses.
  static std::string Exact(double percent, double limit) {
    const std::string text = fmt::format("{:.1f} %", percent);
    return text == fmt::format("{:.1f} %", limit) ? fmt::format("{} %", percent) : text;
  }

  const std::vector<Setting>& settings_;
  const ScoredSeries& series_;
  const Combined& combined_;
  const double least_efficiency_pct_;
  const std::vector<Limited> limited_;
  std::string excluded_;               // settings excluded because of a failed run: "4 x 1 (1 of 3 seeds ...)"
  std::optional<size_t> best_return_;  // the setting with the highest mean return
  std::string return_ = "return";
  std::vector<size_t> scored_;  // settings of this series, in order: on ties, the lower parallelism wins
};

}  // namespace

std::vector<Recommendation> Recommend(const ParallelEfficiency& analysis, size_t series, const Combined& combined,
                                      const BalancedLimits& balanced) {
  const Recommender recommender(analysis, series, combined, balanced);
  return {recommender.Throughput(), recommender.Efficiency(), recommender.Balanced()};
}

}  // namespace backplane
