#include "validate/policy_case.hpp"

#include <fmt/format.h>

#include "backplane/ext/policy.h"
#include "trial/plugin_state.hpp"
#include "validate/doing.hpp"
#include "validate/driven_learner.hpp"
#include "validate/use.hpp"

namespace backplane {
namespace {

void NeedSameActs(DrivenLearner& a, DrivenLearner& b, uint32_t flags, const char* how) {
  a.Act({0, a.rows()}, flags, 3), b.Act({0, b.rows()}, flags, 3);
  for (uint64_t r = 0; r < a.rows(); ++r)
    if (a.ActedBytes(r) != b.ActedBytes(r))
      FailCase(fmt::format("{} act of row {} with the loaded policy", how, r), "the bytes of the learner that saved it",
               "different bytes");
}

auto TrainedPolicy(DrivenLearner* learner, CaseResult* result) {
  if (!OffersPolicy(learner->learner())) SkipCase("does not offer " BP_LEARNER_POLICY_1);
  learner->Train(1);
  NowDoing("save (policy)");
  auto saved = SavePolicy(learner->learner());
  result->note = fmt::format("{} bytes", saved->size());
  return saved;
}

void NeedForm(LearnerInstance& learner) {
  NowDoing("form");
  PolicyForm(learner);  // throws unless it is a JSON object
}

}  // namespace

// Like a rollout worker's learner, which acts with the trial's policy and never plans.
void PolicyActs(Subject& subject, CaseResult* result) {
  NeedTwoInstances(subject);
  DrivenLearner learner(subject, {});
  const auto saved = TrainedPolicy(&learner, result);
  DrivenLearner copy(subject, {});
  NowDoing("load (policy)");
  LoadPolicy(copy.learner(), *saved);
  NowDoing("save (policy)");
  if (SavePolicy(copy.learner()) != saved)
    FailCase("save of a policy right after its load", "the bytes that were loaded", "different bytes");
  NeedSameActs(learner, copy, BP_ACT_EXPLORE, "exploring");
  NeedSameActs(learner, copy, BP_ACT_GREEDY, "greedy");
  NeedForm(copy.learner());
}

// Like a trial with `learner.start_from`.
void PolicyStarts(Subject& subject, CaseResult* result) {
  NeedTwoInstances(subject);
  DrivenLearner learner(subject, {});
  const auto saved = TrainedPolicy(&learner, result);
  DrivenLearner fresh(subject, {});
  NowDoing("start (policy)");
  StartPolicy(fresh.learner(), *saved);
  NeedSameActs(learner, fresh, BP_ACT_GREEDY, "greedy");
  fresh.Train(1);
}

}  // namespace backplane
