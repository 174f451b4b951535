// Cases of a learner that learns from groups of items.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/case_table.hpp"
#include "validate/driven_learner.hpp"
#include "validate/use.hpp"

namespace backplane {
namespace {

// The learned state as the 32-bit numbers of its tensors. Empty: none offered.
std::vector<float> Learned(DrivenLearner& learner) {
  std::vector<float> all;
  const std::optional<bp_named_tensors> told = learner.Tensors();
  if (!told) return all;
  const bp_named_tensors& named = *told;
  for (uint64_t i = 0; i < named.n; ++i) {
    const bp_tensor& tensor = *named.tensors[i];
    if (tensor.dtype.code != BP_DTYPE_FLOAT || tensor.dtype.bits != 32) continue;
    int64_t inner = 1;
    for (int d = 1; d < tensor.ndim; ++d) inner *= tensor.shape[d];
    const int64_t outer = tensor.ndim == 0 ? 1 : tensor.shape[0];
    for (int64_t o = 0; o < outer; ++o) {
      const float* from = static_cast<const float*>(tensor.data) + (tensor.ndim == 0 ? 0 : o * tensor.strides[0]);
      all.insert(all.end(), from, from + inner);
    }
  }
  return all;
}

double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) squares += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(squares);
}

void NeedData(const DrivenLearner& learner) {
  if (learner.collected() != BP_REQ_DATA) SkipCase("asks for no data");
}

// An item's noise may depend on the split.
ValidateSetting WithoutDropout(const Subject& subject) {
  ValidateSetting setting = subject.setting();
  for (const OptionInfo& option : subject.info().options)
    if (option.path.ends_with("dropout")) setting.options[option.path] = 0;
  return setting;
}

void MicroBatchesChangeNothing(Subject& with_dropout, CaseResult* result) {
  NeedTwoInstances(with_dropout);
  const ValidateSetting setting = WithoutDropout(with_dropout);
  Subject subject(with_dropout.info(), setting, with_dropout.folder());
  constexpr uint64_t kAll = UINT64_MAX, kFew = 3;  // leaves a smaller micro-batch at the end of most groups
  DrivenLearner whole(subject, {.micro_batch = kAll});
  const std::vector<float> before = Learned(whole);
  whole.Train(1);
  NeedData(whole);
  if (before.empty()) SkipCase("has no tensors to compare (it does not offer " BP_LEARNER_TENSORS_1 ")");
  DrivenLearner cut(subject, {.micro_batch = kFew});
  cut.Train(1);
  const double change = Distance(Learned(whole), before), apart = Distance(Learned(whole), Learned(cut));
  if (change == 0) SkipCase("its first update changes nothing");
  // Rounding, which an optimiser amplifies when it divides by small numbers.
  constexpr double kRounding = 0.02;
  result->note = fmt::format("{:.2g} of the update", apart / change);
  if (apart > kRounding * change)
    FailCase(fmt::format("a whole group, and the group in micro-batches of {} items", kFew),
             "the same update, except for rounding",
             fmt::format("a difference of {:.0f} % of the update", 100 * apart / change));
}

void GroupIsWhole(Subject& subject, CaseResult*) {
  DrivenLearner learner(subject, {});
  learner.Train(1);
  NeedData(learner);
  const std::vector<std::byte> saved = NeedSaved(learner);
  learner.Probe();
  if (NeedSaved(learner) != saved) FailCase("save after a probe", "the state before it", "a different state");
  learner.BreakOffGroup();
  if (NeedSaved(learner) != saved) FailCase("save within a group", "the state before the group", "a different state");
}

}  // namespace

std::vector<Case> DataLearnerCases() {
  return {
      {"micro-batches-change-nothing", kOfLearners,
       "A group gives the same update in micro-batches of any size, except for rounding; dropout is 0.",
       "Divide each item's loss by group_weight, the weight of the group, and sum.", MicroBatchesChangeNothing,
       kTrains | CallSet{PluginCall::kSave, PluginCall::kTensors}},
      {"group-is-whole", kOfLearners, "A part of a group does not change the saved state, and a probe changes no state.",
       "Keep gradient sums outside the state until LAST_IN_GROUP, and clear them at index 0.", GroupIsWhole,
       kTrains | CallSet{PluginCall::kSave, PluginCall::kTensors}},
  };
}

}  // namespace backplane
