#include "rules/finding_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "machine/resource_measures.hpp"
#include "results/resource_series.hpp"

namespace backplane {
namespace {

std::string Over(const Case& c, const std::string& measure, const char* kind) {
  const Number* number = nullptr;
  size_t seeds = 0;
  for (const TrialData* trial : c.trials) {
    const Number* found = trial->Find(measure);
    if (!found || !std::isfinite(found->value)) continue;
    number = found, ++seeds;
  }
  if (seeds > 1) return fmt::format("{} over {} seeds", kind, seeds);
  if (!number || number->of.empty()) return "whole trial";
  const char* after = number->of == kSamples ? " after the first iteration" : "";
  return fmt::format("{}{}, {} {}", kind, after, number->n, number->of);
}

const Setting* SettingOf(const ParallelEfficiency& parallel, size_t trial) {
  for (const Setting& setting : parallel.settings) {
    if (std::find(setting.trials.begin(), setting.trials.end(), trial) != setting.trials.end()) return &setting;
  }
  return nullptr;
}

}  // namespace

std::optional<size_t> Case::TooFewSamples(const std::string& measure) const {
  size_t samples = 0;
  for (const TrialData* trial : trials) {
    const Number* number = trial->Find(measure);
    if (!number || !std::isfinite(number->value)) continue;
    if (number->of != kSamples && number->of != kSamplesWithWarmUp) return std::nullopt;
    samples += number->n;
  }
  return samples > 0 && samples < kLeastSamples ? std::optional(samples) : std::nullopt;
}

std::optional<double> Case::Value(const std::string& measure) const {
  return TooFewSamples(measure) ? std::nullopt : MeanOfSeeds(measure);
}

std::optional<double> Case::MeanOfSeeds(const std::string& measure) const {
  double sum = 0;
  size_t n = 0;
  for (const TrialData* trial : trials) {
    const Number* number = trial->Find(measure);
    if (!number || !std::isfinite(number->value)) continue;
    sum += number->value, ++n;
  }
  return n ? std::optional(sum / static_cast<double>(n)) : std::nullopt;
}

std::optional<double> Case::Peak(const std::string& measure) const {
  std::optional<double> peak;
  for (const TrialData* trial : trials) {
    const Number* number = trial->Find(measure);
    if (!number || !std::isfinite(number->value)) continue;
    const double top = number->max.value_or(number->value);
    if (!peak || top > *peak) peak = top;
  }
  return peak;
}

bool Case::MeasuredAny(const std::string& prefix) const {
  return std::any_of(trials.begin(), trials.end(), [&](const TrialData* trial) {
    const auto found = trial->measures.lower_bound(prefix);
    return found != trial->measures.end() && found->first.starts_with(prefix);
  });
}

double Case::BusyShare(std::initializer_list<const char*> phases) const {
  double share = 0;
  for (const char* phase : phases) share += Value(std::string("phase/") + phase).value_or(0);
  const double busy = 100 - Value("phase/idle").value_or(0);
  return busy > 0 ? 100 * share / busy : 0;
}

std::optional<uint64_t> Case::Count(const std::string& path) const {
  const nlohmann::json value = At(path);
  return value.is_number() && value.get<double>() > 0 ? std::optional(value.get<uint64_t>()) : std::nullopt;
}

std::optional<uint64_t> Case::Cores() const {
  uint64_t cores = trials.front()->cores.size();
  // The monitor divides by affinity and quota, which it does not record.
  const std::optional<double> used = MeanOfSeeds(resource_measure::kCpuCoresUsed),
                              pct = MeanOfSeeds(resource_measure::kCpuQuotaPct);
  if (used && pct && *pct > 0) {
    const auto quota = static_cast<uint64_t>(std::max(1.0, std::round(100 * *used / *pct)));
    cores = cores ? std::min(cores, quota) : quota;
  }
  return cores ? std::optional(cores) : std::nullopt;
}

std::optional<uint64_t> Case::MachineCores() const {
  return run && run->host.granted_cores > 0 ? std::optional(run->host.granted_cores) : std::nullopt;
}

std::optional<uint64_t> Case::PoolThreads() const {
  if (const std::optional<double> told = Value("learner_threads")) return static_cast<uint64_t>(std::llround(*told));
  return Count("rollout.threads");
}

bool Case::Sweeps(const std::string& path) const {
  const auto& values = trials.front()->values;
  return std::any_of(values.begin(), values.end(),
                     [&](const auto& swept) { return path == swept.first || path.starts_with(swept.first + "."); });
}

std::vector<Case> Case::Neighbours(const std::string& path) const {
  const auto all_but = [&](const TrialData& trial) {
    auto values = trial.values;
    std::erase_if(values, [&](const auto& swept) { return swept.first == path; });
    return values;
  };
  const auto own = all_but(*trials.front());
  if (own.size() == trials.front()->values.size()) return {};  // the path is not swept on its own
  std::vector<Case> found;
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < all_trials->size(); ++i) {
    const auto& [data, its_group] = (*all_trials)[i];
    if (its_group != group || !data.usable() || data.At(path) == At(path) || all_but(data) != own) continue;
    const auto [place, is_new] = places.emplace(data.point_id, found.size());
    if (is_new) {
      Case& c = found.emplace_back(*this);
      c.name = PointName(data);
      c.trials.clear();
      c.setting = parallel ? SettingOf(*parallel, i) : nullptr;
    }
    found[place->second].trials.push_back(&data);
  }
  return found;
}

std::string Case::Window(const std::string& measure) const { return Over(*this, measure, "mean"); }
std::string Case::PeakWindow(const std::string& measure) const { return Over(*this, measure, "largest"); }

std::string NotMeasured(const Case& c, const std::string& measure) {
  const auto why = [&]() -> const char* {
    if (measure.find("psi_") != std::string::npos) return "the kernel or the monitor reports no pressure";
    if (measure.find("throttled_periods") != std::string::npos) return "there is no CPU quota, or it cannot be read";
    if (measure.starts_with(resource_measure::kPrefix))
      return c.MeasuredAny(resource_measure::kPrefix) ? "no sample contains this value" : "no resource samples";
    if (measure.starts_with("phase/")) return "no phase times";
    return "no trial recorded this value";
  };
  if (const std::optional<size_t> few = c.TooFewSamples(measure))
    return fmt::format("{}: only {} {}, a mean needs {}", measure, *few, *few == 1 ? "sample" : "samples", kLeastSamples);
  return fmt::format("{} was not measured: {}", measure, resource_measure::IsOfGpu(measure) ? "no GPU data" : why());
}

std::vector<Case> CasesOf(const Combined& combined, const ParallelEfficiency* parallel, const std::vector<OptionHelp>& options,
                          bool out_of_memory) {
  std::vector<Case> cases;
  std::map<std::pair<size_t, std::string>, size_t> places;
  for (size_t i = 0; i < combined.trials.size(); ++i) {
    const auto& [data, group] = combined.trials[i];
    if (!data.usable() && !(out_of_memory && data.outcome == Outcome::kOom)) continue;
    const auto [place, is_new] = places.emplace(std::pair(group, data.point_id), cases.size());
    if (is_new) {
      Case& c = cases.emplace_back();
      const std::string label = combined.groups.size() > 1 ? combined.groups[group].label : "";
      c.name = label.empty() ? PointName(data) : fmt::format("{} ({})", PointName(data), label);
      c.run = group < combined.groups.size() ? &combined.groups[group].run : nullptr;
      c.group = group;
      c.all_trials = &combined.trials;
      c.planned_seeds = static_cast<size_t>(std::count_if(combined.trials.begin(), combined.trials.end(),
                                                          [&, of = group, &point = data.point_id](const auto& trial) {
                                                            return trial.group == of && trial.data.point_id == point;
                                                          }));
      c.parallel = parallel;
      c.options = &options;
      c.setting = parallel ? SettingOf(*parallel, i) : nullptr;
    }
    cases[place->second].trials.push_back(&data);
  }
  return cases;
}

}  // namespace backplane
