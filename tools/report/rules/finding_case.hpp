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
  size_t planned_seeds = 0;                                // trials of the point, whatever became of them
  const std::vector<CombinedTrial>* all_trials = nullptr;  // of the combined result
  const RunInfo* run = nullptr;                            // of its group
  const ParallelEfficiency* parallel = nullptr;
  const Setting* setting = nullptr;  // the point's place in `parallel`; null without one
  const std::vector<OptionHelp>* options = nullptr;

  // Mean over the seeds that have a finite one; absent: not measured, or too few samples.
  std::optional<double> Value(const std::string& measure) const;
  // The number of samples if there are too few for a mean.
  std::optional<size_t> TooFewSamples(const std::string& measure) const;
  // Largest of all seeds' samples.
  std::optional<double> Peak(const std::string& measure) const;
  bool MeasuredAny(const std::string& prefix) const;
  bool HasPhases() const { return MeasuredAny("phase/"); }
  // Sum of those phases' shares in percent of the time in which the pool's threads were not idle.
  // Rationale: a core granted and not used counts as idle, so the plain share of a trial with one runner would be halved by a
  // second core and quartered by two more, although the same work takes the same time.
  double BusyShare(std::initializer_list<const char*> phases) const;

  nlohmann::json At(const std::string& path) const { return trials.front()->At(path); }
  // The value at a path if it is a number: not for "auto".
  std::optional<uint64_t> Count(const std::string& path) const;
  // Cores that a trial can keep busy: those granted, less if a control group's quota is less. Absent: not recorded.
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

// The points of a combined result that have a result, in its order; with `out_of_memory` those, too, that have none for want of
// memory. Points into the arguments, which must outlive them.
std::vector<Case> CasesOf(const Combined& combined, const ParallelEfficiency* parallel, const std::vector<OptionHelp>& options,
                          bool out_of_memory);

}  // namespace backplane
