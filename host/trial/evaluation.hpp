// Plays what the learner has learned, on an env of its own: at the start, every few iterations and at the end.
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
  // What it gave, as it stands in a line and in the result.
  const EpisodeMeans& Run();
  // Unless the last iteration was evaluated; and its floors, what zero and what uniform actions earn.
  void RunAtEnd();
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
  std::optional<int64_t> end_by_ns_;      // of all that is played at the trial's end
  std::unique_ptr<Evaluator> evaluator_;  // from the first evaluation on
  std::optional<uint64_t> at_;            // iterations before the last one
  std::optional<EpisodeMeans> last_, floor_zero_, floor_uniform_;
  std::vector<double> returns_;  // of the last one's episodes
};

}  // namespace backplane
