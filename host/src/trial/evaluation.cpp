#include "trial/evaluation.hpp"

#include <algorithm>

#include "trial/recorder.hpp"

namespace backplane {

using Policy = Evaluator::Policy;

bool TrialEvaluation::DueAtStart() const {
  return enabled() && parts_.spec.experiment.evaluation.at_start && state_.count.iterations == 0 && !state_.count.warm_up;
}

bool TrialEvaluation::DueAfterIteration() const {
  const uint64_t every = parts_.spec.experiment.evaluation.every_iterations, done = state_.count.iterations;
  return enabled() && every > 0 && done > 0 && done % every == 0;
}

Evaluator& TrialEvaluation::OwnEvaluator() {
  if (evaluator_) return *evaluator_;
  // One share for each runner of the file, never for each thread: results must not depend on threads.
  const uint64_t runners = parts_.spec.experiment.rollout.num_env_runners;
  const uint64_t wanted = parts_.learner.spec().evaluation_rows;
  const uint64_t chunk =
      std::min(wanted > 0 ? wanted : parts_.chunk_rows, (parts_.evaluation_env->rows() + runners - 1) / runners);
  evaluator_ =
      std::make_unique<Evaluator>(*parts_.evaluation_env, parts_.learner, parts_.threads.collectors(), chunk,
                                  parts_.spec.experiment.seed, parts_.cancelled, [&status = parts_.status] { status.Beat(); });
  return *evaluator_;
}

const EpisodeMeans& TrialEvaluation::Run() {
  parts_.status.SetPhase("eval");
  const PhaseSpan span(parts_.clock(), Phase::kEval);
  EvaluationResult result = OwnEvaluator().Play(Policy::kLearner, parts_.threads.clocks());
  last_ = MeansOf(result);
  returns_ = std::move(result.returns);
  RestoreProcessState(Suspects());
  at_ = state_.count.iterations;
  if (const std::optional<HeldOut> held_out = data_.HeldOutLoss(*parts_.evaluation_env))
    last_->metrics["ep/loss"] = {.mean = held_out->loss, .sd = {}, .se = {}, .n = held_out->items};
  return *last_;
}

void TrialEvaluation::RunAtEnd() {
  if (at_ != state_.count.iterations) Run();
  parts_.status.SetPhase("eval");
  const PhaseSpan span(parts_.clock(), Phase::kEval);
  std::vector<PhaseClock>& clocks = parts_.threads.clocks();
  floor_zero_ = MeansOf(OwnEvaluator().Play(Policy::kZero, clocks));
  if (OwnEvaluator().HasUniformActions()) floor_uniform_ = MeansOf(OwnEvaluator().Play(Policy::kUniform, clocks));
}

void TrialEvaluation::AddTo(LoopResult* result) const {
  result->evaluation = last_;
  result->evaluated_at = at_;
  result->evaluation_returns = returns_;
  result->floor_zero = floor_zero_;
  result->floor_uniform = floor_uniform_;
}

}  // namespace backplane
