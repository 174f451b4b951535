#include "trial/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trial/budget.hpp"
#include "trial/recorder.hpp"

namespace backplane {

using Policy = Evaluator::Policy;

bool TrialEvaluation::DueAtStart() const {
  return enabled() && parts_.spec.experiment.evaluation.at_start && state_.count.iterations == 0 && !state_.count.warm_up &&
         !state_.lines.HasEarlier();  // a checkpoint of the untrained policy follows its evaluation
}

bool TrialEvaluation::DueAfterIteration() const {
  const uint64_t every = parts_.spec.experiment.evaluation.every_iterations, done = state_.count.iterations;
  return enabled() && every > 0 && done > 0 && done % every == 0;
}

Evaluator& TrialEvaluation::OwnEvaluator() {
  if (evaluator_) return *evaluator_;
  const uint64_t wanted = parts_.learner.spec().evaluation_rows;
  // If the learner sets its own number of evaluation rows and its rows are independent, it gets all threads. Others get one
  // share per runner in the file, never per thread, because results must not depend on threads.
  const bool any_cut = wanted > 0 && parts_.learner.row_exact();
  const Runners runners = any_cut ? parts_.threads.callers() : parts_.threads.collectors();
  const uint64_t shares = any_cut ? runners.threads : parts_.spec.experiment.rollout.num_env_runners;
  const uint64_t chunk =
      std::min(wanted > 0 ? wanted : parts_.chunk_rows, (parts_.evaluation_env->rows() + shares - 1) / shares);
  evaluator_ = std::make_unique<Evaluator>(*parts_.evaluation_env, parts_.learner, runners, chunk, parts_.spec.experiment.seed,
                                           parts_.cancelled, [&status = parts_.status] { status.Beat(); });
  evaluator_->CapEpisodes(parts_.spec.experiment.evaluation.max_episode_steps);
  return *evaluator_;
}

int64_t TrialEvaluation::DeadlineNow() const {
  const Spent spent = state_.count.SpentOfBudget(state_.clock.trial_s(), 0);
  return DeadlineOf(parts_.spec.experiment.budget, spent, Deadline::kPatienceAtLeast);
}

EvaluationResult TrialEvaluation::Play(Policy policy, const Evaluator::Played& played) {
  Evaluator& evaluator = OwnEvaluator();
  evaluator.EndBy(end_by_ns_ ? *end_by_ns_ : DeadlineNow());
  EvaluationResult result = evaluator.Play(policy, parts_.threads.clocks(), played);
  WarnOfTruncated(result);
  return result;
}

void TrialEvaluation::WarnOfTruncated(const EvaluationResult& result) {
  constexpr char kCure[] = "so their returns cover only the steps played; give the env a time limit";
  const std::string& env = parts_.evaluation_env->id();
  if (result.capped > 0 && !std::exchange(warned_of_cap_, true))
    warnings_.Add(
        fmt::format("{}: {} of {} evaluation episodes were truncated after {} steps (evaluation.max_episode_steps), "
                    "{}, or raise this limit",
                    env, result.capped, result.returns.size(), evaluator_->cap(), kCure));
  if (result.out_of_time > 0 && !std::exchange(warned_of_time_, true))
    warnings_.Add(fmt::format("{}: {} of {} evaluation episodes were truncated because budget.wall_time was over, {}", env,
                              result.out_of_time, result.returns.size(), kCure));
}

// A baseline of truncated episodes is not comparable with whole ones.
std::optional<EpisodeMeans> TrialEvaluation::Floor(Policy policy) {
  if (OwnEvaluator().may_be_endless() && NowNs() >= *end_by_ns_) return std::nullopt;
  const EvaluationResult result = Play(policy);
  return result.out_of_time > 0 ? std::nullopt : std::optional(MeansOf(result));
}

const EpisodeMeans& TrialEvaluation::Run() {
  parts_.status.SetPhase("eval");
  const PhaseSpan span(parts_.clock(), Phase::kEval);
  Evaluator& evaluator = OwnEvaluator();
  const std::unique_ptr<HeldOutPieces> pieces = data_.HeldOutInPieces(*parts_.evaluation_env, evaluator.chunk_rows());
  Evaluator::Played played;
  if (pieces) played = [&](uint64_t begin, uint64_t) { pieces->Ask(begin); };
  EvaluationResult result = Play(Policy::kLearner, played);
  const bool whole = result.out_of_time == 0;  // a truncated episode may have a better return than a whole one
  last_ = MeansOf(result);
  returns_ = std::move(result.returns);
  RestoreProcessState(Suspects());
  at_ = state_.count.iterations;
  const std::optional<HeldOut> held_out = pieces ? pieces->Sum() : data_.HeldOutLoss(*parts_.evaluation_env);
  if (held_out) last_->metrics["ep/loss"] = {.mean = held_out->loss, .sd = {}, .se = {}, .n = held_out->items};
  if (whole) state_.best.Add(*last_, state_.count), state_.goal.Add(*last_, state_.count);
  return *last_;
}

void TrialEvaluation::RunAtEnd() {
  end_by_ns_ = DeadlineNow();
  if (at_ != state_.count.iterations) Run();
}

void TrialEvaluation::PlayBaselines() {
  parts_.status.SetPhase("eval");
  const PhaseSpan span(parts_.clock(), Phase::kEval);
  floor_zero_ = Floor(Policy::kZero);
  if (OwnEvaluator().HasUniformActions()) floor_uniform_ = Floor(Policy::kUniform);
}

void TrialEvaluation::AddTo(LoopResult* result) const {
  result->evaluation = last_;
  result->evaluated_at = at_;
  result->evaluation_returns = returns_;
  result->floor_zero = floor_zero_;
  result->floor_uniform = floor_uniform_;
}

}  // namespace backplane
