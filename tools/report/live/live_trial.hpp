// One running trial for its page: thinned curves, updated from its files since the last read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/iteration.hpp"
#include "record/results_folder.hpp"
#include "results/line_tail.hpp"
#include "results/phase_bands.hpp"
#include "results/resource_series.hpp"
#include "results/thin_series.hpp"

namespace backplane {

class LiveTrial {
 public:
  explicit LiveTrial(TrialFolder folder) : folder_(std::move(folder)) {}

  // Reads about `most_bytes` from the attempt's files and returns the bytes read. A new attempt extends the curves from its
  // start.
  size_t Read(unsigned attempt, size_t most_bytes);

  // Curves by their names in metric_series.hpp, over env steps, or over iterations without env steps; "resources/..." over
  // seconds.
  const std::map<std::string, ThinSeries>& curves() const { return curves_; }
  // [[steps between points], [values]], rebuilt only after new data
  const std::string& CurveJson(const std::string& name);
  const PhaseBands& phases() const { return phases_; }
  // [[seconds per span], {PHASE: [thousandths per span]}]; PHASE: index into `phases`. Rebuilt only after new data
  const std::string& PhasesJson(const std::vector<Phase>& phases);
  const std::optional<uint64_t>& iteration() const { return iteration_; }
  TrialFolder folder() const { return folder_; }
  unsigned attempt() const { return attempt_; }

 private:
  void Begin(unsigned attempt);
  void ForgetJson();
  void AddIteration(const Iteration& line);
  void AddResources(const std::string& line);

  TrialFolder folder_;
  unsigned attempt_ = 0;
  LineTail metrics_, resources_;
  ResourceRows resource_rows_;
  std::map<std::string, ThinSeries> curves_;
  PhaseBands phases_;
  std::map<std::string, std::string> json_;
  std::pair<std::vector<Phase>, std::string> phases_json_;
  std::optional<uint64_t> iteration_;
};

}  // namespace backplane
