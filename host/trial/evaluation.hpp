// Evaluates the learner's policy on a separate env: at the start, every few iterations and at the end.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "rollout/evaluator.hpp"
#include "trial/collect_data.hpp"
#include "trial/warnings.hpp"

namespace backplane {

class TrialEvaluation {
 public:
  TrialEvaluation(const LoopParts& parts, LoopState& state, CollectData& data, WarningList& warnings)
      : parts_(parts), state_(state), data_(data), warnings_(warnings) {}

  bool enabled() const { return parts_.evaluation_env != nullptr; }
  bool DueAtStart() const;
  bool DueAfterIteration() const;
  // Returns the means for the line and the result.
  const EpisodeMeans& Run();
  // Evaluates unless the last iteration was evaluated.
  void RunAtEnd();
  // Plays zero actions and uniform actions. Call it after RunAtEnd.
  void PlayBaselines();
  void AddTo(LoopResult* result) const;

 private:
  Evaluator& OwnEvaluator();
  int64_t DeadlineNow() const;
  EvaluationResult Play(Evaluator::Policy policy, const Evaluator::Played& played = {});
  // Absent: no time is left for it.
  std::optional<EpisodeMeans> Floor(Evaluator::Policy policy);
  void WarnOfTruncated(const EvaluationResult& result);

  const LoopParts& parts_;
  LoopState& state_;
  CollectData& data_;
  WarningList& warnings_;
  bool warned_of_cap_ = false, warned_of_time_ = false;
  std::optional<int64_t> end_by_ns_;      // deadline of everything played at the trial's end
  std::unique_ptr<Evaluator> evaluator_;  // created by the first evaluation
  std::optional<uint64_t> at_;            // number of iterations before the last evaluation
  std::optional<EpisodeMeans> last_, floor_zero_, floor_uniform_;
  std::vector<double> returns_;  // episodes of the last evaluation
};

}  // namespace backplane
