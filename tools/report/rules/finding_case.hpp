// The input of a rule: one point on one group of machines, over all its seeds.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rules/findings.hpp"

namespace backplane {

// Minimum of resource samples for a mean.
inline constexpr size_t kLeastSamples = 5;

class Case {
 public:
  std::string name;
  std::vector<const TrialData*> trials;  // those with a result; at least one
  size_t group = 0;
  size_t planned_seeds = 0;                                // all trials of the point
  const std::vector<CombinedTrial>* all_trials = nullptr;  // of the combined result
  const RunInfo* run = nullptr;                            // of its group
  const ParallelEfficiency* parallel = nullptr;
  const Setting* setting = nullptr;  // the point's place in `parallel`; null without one
  const std::vector<OptionHelp>* options = nullptr;

  // Mean over seeds with a finite value. Absent if not measured, or with too few samples.
  std::optional<double> Value(const std::string& measure) const;
  // The number of samples if there are too few for a mean.
  std::optional<size_t> TooFewSamples(const std::string& measure) const;
  // Maximum over all seeds' samples.
  std::optional<double> Peak(const std::string& measure) const;
  bool MeasuredAny(const std::string& prefix) const;
  bool HasPhases() const { return MeasuredAny("phase/"); }
  // Sum of the phases' shares in percent of the non-idle time of the pool's threads.
  // Rationale: a granted but unused core counts as idle. A second core would halve the plain share of a trial with one runner,
  // although the work and its time stay the same.
  double BusyShare(std::initializer_list<const char*> phases) const;

  nlohmann::json At(const std::string& path) const { return trials.front()->At(path); }
  // The value at a path if it is a number, so not for "auto".
  std::optional<uint64_t> Count(const std::string& path) const;
  // Cores that a trial can use: the granted ones, or a lower control group quota. Absent if not recorded.
  std::optional<uint64_t> Cores() const;
  // Cores that the batch could grant. Absent: not recorded.
  std::optional<uint64_t> MachineCores() const;
  // Threads of the trial's pool.
  std::optional<uint64_t> PoolThreads() const;
  // True if the sweep sets the path or a mapping that contains it.
  bool Sweeps(const std::string& path) const;
  // The points of the same group that have a result and differ only in the value at a swept path.
  std::vector<Case> Neighbours(const std::string& path) const;
  bool HasGpu() const { return trials.front()->gpus > 0; }

  // "mean after the first iteration, 12 samples"
  std::string Window(const std::string& measure) const;
  std::string PeakWindow(const std::string& measure) const;

 private:
  std::optional<double> MeanOfSeeds(const std::string& measure) const;
};

// "... was not measured: no GPU data"; "...: 1 sample only, a mean takes 5".
std::string NotMeasured(const Case& c, const std::string& measure);

// The points with a result, in the combined result's order. `out_of_memory` adds points that lack a result because they ran out
// of memory. The result points into the arguments, which must outlive it.
std::vector<Case> CasesOf(const Combined& combined, const ParallelEfficiency* parallel, const std::vector<OptionHelp>& options,
                          bool out_of_memory);

}  // namespace backplane
