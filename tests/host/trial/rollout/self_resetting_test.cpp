// An env that resets itself equals its twin that the host resets, also with all buffers on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "twin_plugins.hpp"

namespace backplane::twin {
namespace {

using Policy = Evaluator::Policy;
constexpr uint64_t kSelfResettingRows = 10;
constexpr Form kSelfResettingForms[] = {Form::kSelfResetting, Form::kOnDevice};

// Everything that a learner receives of a rollout, by name, and the records of its episodes.
std::map<std::string, std::string> Seen(TwinTrial& trial) {
  const bp_delivery d = trial.collector->Delivery();
  const DevicePages::Open open;
  std::map<std::string, std::string> seen;
  for (uint64_t i = 0; i < d.n_tensors; ++i) {
    const bp_tensor* t = d.tensors[i];
    std::string& text = seen[d.names[i]];
    for (int k = 0; k < t->ndim; ++k) text += std::to_string(t->shape[k]) + " ";
    uint64_t inner = t->dtype.bits / 8;
    for (int k = 1; k < t->ndim; ++k) inner *= t->shape[k];
    for (int64_t e = 0; e < t->shape[0]; ++e)
      text.append(static_cast<const char*>(t->data) + e * t->strides[0] * (t->dtype.bits / 8), inner);
  }
  for (const Episode& e : trial.collector->episodes())
    seen["episodes"] += testing::PrintToString(std::tuple(e.t, e.row, e.episode_return, e.length, e.info[0]));
  return seen;
}

std::vector<std::map<std::string, std::string>> Rollouts(TwinTrial& trial, const std::vector<uint64_t>& horizons) {
  std::vector<std::map<std::string, std::string>> out;
  for (const uint64_t horizon : horizons) {
    EXPECT_TRUE(trial.Collect(horizon));
    out.push_back(Seen(trial));
  }
  return out;
}

const std::vector<uint64_t> kHorizons = {7, 7, 20, 3, 1, 12};

TEST(SelfResetting, RolloutsEqualTheTwin) {
  TwinTrial ordinary(Form::kOrdinary, kSelfResettingRows, 2, 3);
  const auto wanted = Rollouts(ordinary, kHorizons);
  EXPECT_GT(ordinary.collector->episodes().size(), 10u);
  EXPECT_EQ(wanted[0].count("final_age"), 1u) << "every channel keeps its final value";
  for (const Form form : kSelfResettingForms)
    for (const unsigned threads : {1u, 2u, 3u}) {
      TwinTrial trial(form, kSelfResettingRows, threads, 3);
      const auto got = Rollouts(trial, kHorizons);
      for (size_t i = 0; i < wanted.size(); ++i)
        for (const auto& [name, bytes] : wanted[i])
          EXPECT_TRUE(got[i].at(name) == bytes) << name << " of rollout " << i << ", form " << static_cast<int>(form);
    }
}

TEST(SelfResetting, GivesTheNextSeedsAlsoToAnEnvThatTheHostResets) {
  TwinTrial trial(Form::kOrdinary, kSelfResettingRows, 2, 3);
  g_foreseen = 0;
  int ended = 0;
  for (const uint64_t horizon : {uint64_t{30}, uint64_t{50}}) {
    ASSERT_TRUE(trial.Collect(horizon));
    ended += static_cast<int>(trial.collector->episodes().size());
  }
  EXPECT_GT(ended, 10);
  EXPECT_EQ(g_foreseen, ended);
}

TEST(SelfResetting, WaitingForTheDeviceIsTimeOfTheEnv) {
  TwinTrial trial(Form::kOnDevice, kSelfResettingRows, 1, 3);
  g_waited_in = Phase::kIdle;
  ASSERT_TRUE(trial.Collect(4));
  EXPECT_EQ(kPhaseNames[static_cast<size_t>(Phase::kEnvStep)], kPhaseNames[static_cast<size_t>(g_waited_in.load())]);
}

TEST(SelfResetting, EvaluationsEqualTheTwin) {
  for (const Policy policy : {Policy::kLearner, Policy::kZero, Policy::kUniform}) {
    const EvaluationResult wanted = TwinTrial(Form::kOrdinary, kSelfResettingRows, 2, 3).Evaluate(policy);
    for (const Form form : kSelfResettingForms) {
      const EvaluationResult got = TwinTrial(form, kSelfResettingRows, 2, 3).Evaluate(policy);
      EXPECT_EQ(got.returns, wanted.returns);
      EXPECT_EQ(got.lengths, wanted.lengths);
      EXPECT_EQ(got.infos, wanted.infos);
    }
  }
}

TEST(SelfResetting, ContinuesWithTheNextEpisodesAfterAResume) {
  const auto resumed = [](Form form) {
    TwinTrial before(form, kSelfResettingRows, 1, 3), after(form, kSelfResettingRows, 1, 3);
    before.Collect(20);
    after.collector->StartAfresh(before.collector->rows().state, before.collector->policy_steps());
    return Rollouts(after, {5, 9});
  };
  const auto wanted = resumed(Form::kOrdinary);
  for (const Form form : kSelfResettingForms) EXPECT_TRUE(resumed(form) == wanted);
}

TEST(SelfResetting, MomentsEqualTheTwin) {
  g_switches.moments = true;
  TwinTrial ordinary(Form::kOrdinary, kSelfResettingRows, 1, kSelfResettingRows),
      trial(Form::kSelfResetting, kSelfResettingRows, 1, 3);
  g_switches.moments = false;
  EXPECT_TRUE(Rollouts(trial, kHorizons) == Rollouts(ordinary, kHorizons));
}

TEST(SelfResetting, ANaNIsFoundInTheLastObservationOfAnEpisode) {
  std::optional<NonFinite> found[2];
  for (const Form form : {Form::kOrdinary, Form::kSelfResetting}) {
    TwinTrial trial(form, kSelfResettingRows, 1, 3);
    g_switches.nan_end = 4;
    ASSERT_TRUE(trial.Collect(20));
    found[form == Form::kSelfResetting] = trial.collector->NonFiniteObservation();
  }
  ASSERT_TRUE(found[0] && found[1]);
  EXPECT_EQ(found[1]->text, found[0]->text);
  EXPECT_THAT(found[1]->text, testing::HasSubstr("observation obs[3] of row 4, agent 0, is not finite at step"));
}

TEST(OnDevice, TensorsNameTheDeviceAndAreAlignedForIt) {
  TwinTrial trial(Form::kOnDevice, kSelfResettingRows, 1, 3);
  trial.Collect(20);
  const bp_delivery d = trial.collector->Delivery();
  for (uint64_t i = 0; i < d.n_tensors; ++i) {
    const bool host = std::strcmp(d.names[i], "final_index") == 0;
    EXPECT_EQ(d.tensors[i]->device.type, host ? BP_DEVICE_CPU : BP_DEVICE_CUDA) << d.names[i];
    const int64_t stride_bytes = d.tensors[i]->strides[0] * d.tensors[i]->dtype.bits / 8;
    if (std::strncmp(d.names[i], "final", 5) != 0) {
      EXPECT_EQ(stride_bytes % 256, 0) << d.names[i];
    }
  }
}

TEST(OnDevice, ReleasesAllMemory) {
  {
    TwinTrial trial(Form::kOnDevice, kSelfResettingRows, 1, 3);
    Rollouts(trial, kHorizons);
    trial.Evaluate(Policy::kUniform);
    EXPECT_GT(DevicePages::blocks(), 0u);
  }
  EXPECT_EQ(DevicePages::blocks(), 0u);
}

TEST(OnDevice, ReportsAFailureWithoutReadingTheDevice) {
  TwinTrial trial(Form::kOnDevice, kSelfResettingRows, 1, 3);
  g_switches.nan_row = 3;
  try {
    trial.Collect(5);
    FAIL();
  } catch (const TrialFailure& e) {
    EXPECT_STREQ(e.what(), "env.on_device: the reward of row 3 is not a finite number at step 1 of the rollout");
  }
  EXPECT_FALSE(trial.collector->NonFiniteObservation());
}

// The tests above depend on it.
TEST(OnDeviceDeathTest, ItsMemoryCannotBeTouchedFromOutside) {
  auto* block = static_cast<volatile char*>(DevicePages::Allocate(1));
  EXPECT_DEATH(block[0] = 1, "");
  DevicePages::Release(const_cast<char*>(block));
}

// The error of creating a trial, or empty.
std::string Refusal(Form form, const Faults& faults) {
  g_faults = faults;
  std::string sentence;
  try {
    const TwinTrial trial(form, 4, 1, 4);
  } catch (const TrialFailure& e) {
    sentence = e.what();
  }
  g_faults = {};
  return sentence;
}

TEST(SelfResetting, IsRejectedWithoutItsExtensions) {
  EXPECT_EQ(Refusal(Form::kSelfResetting, {}), "");
  EXPECT_EQ(Refusal(Form::kSelfResetting, {.no_autoreset = true}),
            "env.self_resetting: resets itself (NATIVE_AUTORESET), but does not offer bp.env.autoreset/1, which receives its "
            "seeds");
  EXPECT_EQ(Refusal(Form::kSelfResetting, {.without_flags = BP_FLAG_OWNS_TIME_LIMIT}),
            "env.self_resetting: resets itself (NATIVE_AUTORESET), but leaves its time limit to the host (no OWNS_TIME_LIMIT), "
            "which acts too late");
  EXPECT_EQ(Refusal(Form::kSelfResetting, {.no_final_obs = true}),
            "env.self_resetting: resets itself (NATIVE_AUTORESET): expected a channel of the role FINAL_OBS like 'obs', [4] of "
            "type code 2, 32 bits, scope 2, got 'final_age', [] of type code 0, 8 bits, scope 2");
  EXPECT_EQ(Refusal(Form::kSelfResetting, {.no_final_age = true}),
            "env.self_resetting: resets itself (NATIVE_AUTORESET): expected a channel of the role FINAL_OBS like 'age', [] of "
            "type code 0, 8 bits, scope 2, got none");
  EXPECT_EQ(
      Refusal(Form::kSelfResetting, {.short_final_state = true}),
      "env.self_resetting: resets itself (NATIVE_AUTORESET): expected a channel of the role FINAL_STATE like 'state', [2] "
      "of type code 2, 32 bits, scope 1, got 'final_state', [1] of type code 2, 32 bits, scope 1");
}

TEST(OnDevice, IsRejectedWithoutMemoryOrResets) {
  EXPECT_EQ(Refusal(Form::kOnDevice, {}), "");
  EXPECT_EQ(Refusal(Form::kOnDevice, {.no_memory = true}),
            "env.on_device: keeps its channels on a device, but does not offer bp.env.memory/1, which allocates buffers there");
  EXPECT_EQ(
      Refusal(Form::kOnDevice, {.without_flags = BP_FLAG_NATIVE_AUTORESET}),
      "env.on_device: keeps its channels on a device, but does not reset itself (NATIVE_AUTORESET), so the host would wait "
      "for its flags in every step");
  g_switches.moments = true;
  EXPECT_EQ(
      Refusal(Form::kOnDevice, {}),
      "learner.twin: needs observation moments, which the host cannot compute because env.on_device keeps observations on "
      "a device");
  g_switches.moments = false;
}

// The host's record of each step is in its own memory, wherever the channels are.
TEST(SelfResetting, RejectsRolloutsLargerThanHostMemory) {
  const TwinTrial trial(Form::kOnDevice, kSelfResettingRows, 1, 3);
  EXPECT_NO_THROW(CheckHorizon(1000, *trial.env, *trial.learner));
  for (const uint64_t horizon : {uint64_t{1} << 50, UINT64_MAX}) {
    try {
      CheckHorizon(horizon, *trial.env, *trial.learner);
      ADD_FAILURE() << horizon;
    } catch (const TrialFailure& failure) {
      EXPECT_EQ(failure.status(), BP_E_OOM_HOST);
      EXPECT_THAT(failure.what(), testing::HasSubstr("learner.twin: asks for a rollout of"));
    }
  }
}

}  // namespace
}  // namespace backplane::twin
