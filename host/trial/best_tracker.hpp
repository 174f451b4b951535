// The best evaluation of a trial so far, and whether its state still has to be saved (checkpoint.best).
#pragma once

#include <optional>
#include <string>

#include "contract/experiment.hpp"
#include "record/best_score.hpp"
#include "record/spread.hpp"
#include "trial/trial_count.hpp"

namespace backplane {

// A metric of an evaluation, eval/NAME; NaN: it has no such metric.
double EvaluatedValue(const std::string& metric, const EpisodeMeans& evaluation);

class BestTracker {
 public:
  explicit BestTracker(const BestConfig& config) : config_(config) {}

  // Call after each whole evaluation. A value that is not finite never wins, and a tie keeps the earlier evaluation.
  void Add(const EpisodeMeans& evaluation, const TrialCount& count);
  // Call at a resume. `saved` is the score of best.bin, `known` the best score in the checkpoint, after `iterations`. Returns a
  // warning if the best state is lost, else an empty text.
  std::string GoOnFrom(const std::optional<BestScore>& saved, const std::optional<BestScore>& known, uint64_t iterations);

  const std::optional<BestScore>& best() const { return best_; }
  // True between the best evaluation and its checkpoint. The state is then the evaluated one.
  bool unsaved() const { return unsaved_; }
  void NoteSaved() { unsaved_ = false; }

 private:
  const BestConfig& config_;
  std::optional<BestScore> best_;
  bool unsaved_ = false;
};

}  // namespace backplane
