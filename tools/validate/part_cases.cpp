// The case of a learner that takes its rollouts in parts.
#include "validate/case_table.hpp"
#include "validate/driven_learner.hpp"
#include "validate/use.hpp"

namespace backplane {
namespace {

void PartsEndWithConsume(Subject& subject, CaseResult*) {
  NeedTwoInstances(subject);
  constexpr uint64_t kIterations = 2;
  DrivenLearner learner(subject, {}), other(subject, {.spoils_parts = true});
  learner.Train(kIterations);
  if (!learner.took_parts()) SkipCase("accepts no rollout in parts");
  other.Train(kIterations);
  if (learner.record() != other.record())
    FailCase("2 iterations, and the same with each part overwritten after its consume",
             "the same state and actions, bit for bit", "different ones");
}

}  // namespace

std::vector<Case> PartCases() {
  return {
      {"parts-end-with-consume", kOfLearners, "A part of a rollout is read only during its `consume`.",
       "Copy what later calls need; only a rollout in one delivery stays valid through its ticks.", PartsEndWithConsume,
       kTrains | CallSet{PluginCall::kSave}, Evidence::kCompares},
  };
}

}  // namespace backplane
