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
  const uint64_t wanted = parts_.learner.spec().evaluation_rows;
  // A learner that has a wish of its own for evaluations, and whose rows do not depend on each other, gets all threads. For
  // others one share for each runner of the file, never for each thread: results must not depend on threads.
  const bool any_cut = wanted > 0 && parts_.learner.row_exact();
  const Runners runners = any_cut ? parts_.threads.callers() : parts_.threads.collectors();
  const uint64_t shares = any_cut ? runners.threads : parts_.spec.experiment.rollout.num_env_runners;
  const uint64_t chunk =
      std::min(wanted > 0 ? wanted : parts_.chunk_rows, (parts_.evaluation_env->rows() + shares - 1) / shares);
  evaluator_ = std::make_unique<Evaluator>(*parts_.evaluation_env, parts_.learner, runners, chunk, parts_.spec.experiment.seed,
                                           parts_.cancelled, [&status = parts_.status] { status.Beat(); });
  return *evaluator_;
}

const EpisodeMeans& TrialEvaluation::Run() {
  parts_.status.SetPhase("eval");
  const PhaseSpan span(parts_.clock(), Phase::kEval);
  Evaluator& evaluator = OwnEvaluator();
  const std::unique_ptr<HeldOutPieces> pieces = data_.HeldOutInPieces(*parts_.evaluation_env, evaluator.chunk_rows());
  Evaluator::Played played;
  if (pieces) played = [&](uint64_t begin, uint64_t) { pieces->Ask(begin); };
  EvaluationResult result = evaluator.Play(Policy::kLearner, parts_.threads.clocks(), played);
  last_ = MeansOf(result);
  returns_ = std::move(result.returns);
  RestoreProcessState(Suspects());
  at_ = state_.count.iterations;
  const std::optional<HeldOut> held_out = pieces ? pieces->Sum() : data_.HeldOutLoss(*parts_.evaluation_env);
  if (held_out) last_->metrics["ep/loss"] = {.mean = held_out->loss, .sd = {}, .se = {}, .n = held_out->items};
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
