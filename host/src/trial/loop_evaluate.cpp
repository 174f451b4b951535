// When the loop evaluates, and what it measures then.
#include "store/metric_series.hpp"
#include "trial/loop.hpp"
#include "trial/metric_events.hpp"

namespace backplane {

using Policy = Evaluator::Policy;

Evaluator& TrialLoop::OwnEvaluator() {
  if (evaluator_) return *evaluator_;
  // One share for each runner of the file, never for each thread: results must not depend on threads.
  const uint64_t runners = parts_.spec.experiment.rollout.num_env_runners;
  const uint64_t chunk = std::min(parts_.chunk_rows, (parts_.evaluation_env->rows() + runners - 1) / runners);
  evaluator_ = std::make_unique<Evaluator>(*parts_.evaluation_env, parts_.learner, parts_.threads.collectors(), chunk,
                                           parts_.spec.experiment.seed, parts_.cancelled, [this] { parts_.status.Beat(); });
  return *evaluator_;
}

void TrialLoop::Evaluate() {
  parts_.status.SetPhase("eval");
  const PhaseSpan span(clocks_[0], Phase::kEval);
  evaluation_ = ToJson(OwnEvaluator().Play(Policy::kLearner, clocks_));
  RestoreProcessState(Suspects());
  evaluated_at_ = iterations_;
  if (!feed_) return;
  const std::optional<HeldOut> held_out = feed_->HeldOutLoss(*parts_.evaluation_env, parts_.evaluation_env->rows());
  if (held_out)
    evaluation_["metrics"]["ep/loss"] = {{"mean", held_out->loss}, {"sd", nullptr}, {"se", nullptr}, {"n", held_out->items}};
}

// What nothing has been learned yet scores: a line of iteration 0.
void TrialLoop::EvaluateAtStart(const bp_request& request) {
  parts_.status.SetPhase("eval");
  const PhaseSpan span(clocks_[0], Phase::kEval);
  if (request.kind == BP_REQ_DATA) Feed().Prepare(request);
  Evaluate();
  const nlohmann::json line = {
      {"iteration", 0}, {"step", env_steps_}, {"episodes", 0}, {"eval", evaluation_}, {"time", {{"t", TrialSeconds()}}}};
  metrics_file_.Append(line);
  ShowLive(line);
  PostMetrics(parts_.monitors, line);
}

void TrialLoop::EvaluateAtEnd() {
  if (evaluated_at_ != iterations_) Evaluate();
  parts_.status.SetPhase("eval");
  const PhaseSpan span(clocks_[0], Phase::kEval);
  floor_zero_ = ToJson(OwnEvaluator().Play(Policy::kZero, clocks_));
  if (OwnEvaluator().HasUniformActions()) floor_uniform_ = ToJson(OwnEvaluator().Play(Policy::kUniform, clocks_));
}

}  // namespace backplane
