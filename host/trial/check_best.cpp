#include "trial/check_best.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backplane/ext/held_out.h"
#include "base/suggest.hpp"
#include "record/metric_series.hpp"
#include "rollout/failure.hpp"
#include "trial/plugin_state.hpp"

namespace backplane {
namespace {

void CheckMetric(const char* key, const std::string& metric, const EnvInstance& env, LearnerInstance& learner) {
  std::vector<std::string> names = {"eval/return", "eval/length"};
  for (const bp_channel* channel : env.channels())
    if (IsEpisodeInfo(*channel)) names.push_back(NameUnder("eval/", channel->name));
  if (learner.Extension<bp_learner_held_out_1>(BP_LEARNER_HELD_OUT_1) != nullptr) names.emplace_back("eval/loss");
  if (std::ranges::find(names, metric) != names.end()) return;
  const std::string near = DidYouMean(Nearest(metric, Candidates(names)));
  throw TrialFailure(BP_E_CONFIG, "",
                     fmt::format("{}: expected a metric that evaluations of {} record, got '{}'{}", key, env.id(), metric,
                                 near.empty() ? fmt::format(" ({})", fmt::join(names, ", ")) : near));
}

}  // namespace

void CheckBest(const TrialSpec& spec, const EnvInstance& env, LearnerInstance& learner) {
  const std::optional<std::string>& metric = spec.experiment.checkpoint.best.metric;
  if (!metric) return;
  if (StateOf(learner) == nullptr)
    throw TrialFailure(BP_E_CONFIG, "",
                       fmt::format("{}: expected a learner that saves its state, got {}, which does not offer {}",
                                   kBestMetricKey, learner.id(), BP_LEARNER_STATE_1));
  CheckMetric(kBestMetricKey, *metric, env, learner);
}

void CheckGoal(const TrialSpec& spec, const EnvInstance& env, LearnerInstance& learner) {
  if (const std::optional<Goal>& until = spec.experiment.budget.until) CheckMetric(kUntil, until->metric, env, learner);
}

}  // namespace backplane
